#include "kernels/cpu/loops.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/clones.hpp"
#include "kernels/cpu/dot.hpp"

namespace troupe::kernels::loops {

namespace {

template <class Reader>
TROUPE_INLINE std::size_t outside_loop(Reader values, double weight, double max,
                                       std::size_t n) {
  // Written so that a NaN fails it, and 0 * infinity is one.
  std::size_t result = 0;
  for (std::size_t j = 0; j < n; ++j)
    result += !(std::abs(weight * values[j]) <= max);
  return result;
}

template <class Reader>
TROUPE_INLINE std::size_t add_loop(Reader values, double weight, grid g,
                                   double* __restrict sum, std::size_t n) {
  const auto magic = g.magic(), max = g.product_max();
  std::size_t result = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const auto product = weight * values[j];
    const bool inside = std::abs(product) <= max;
    sum[j] += inside ? (product + magic) - magic : 0.0;
    result += !inside;
  }
  return result;
}

template <server_rule Rule>
TROUPE_INLINE void
finish_loop(const float* base, const double* __restrict sum, double total,
            const server_step& step, double* __restrict first,
            double* __restrict second, float* out, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    moments kept{first[j], 0};
    if constexpr (Rule != server_rule::momentum)
      kept.second = second[j];
    const auto change = server_change<Rule>(step, sum[j] / total, kept);
    first[j] = kept.first;
    if constexpr (Rule != server_rule::momentum)
      second[j] = kept.second;
    out[j] = static_cast<float>(static_cast<double>(base[j]) + change);
  }
}

/// Adds the squares of value(0) … value(n - 1) in the order of `norm_block`.
template <class Value>
TROUPE_INLINE double squares_loop(std::size_t n, Value value) {
  double total = 0;
  for (std::size_t first = 0; first < n; first += norm_block) {
    const auto last = std::min(n, first + norm_block);
    double lanes[norm_lanes] = {};
    auto j = first;
    for (; j + norm_lanes <= last; j += norm_lanes)
      for (std::size_t lane = 0; lane < norm_lanes; ++lane) {
        const double x = value(j + lane);
        lanes[lane] += x * x;
      }
    for (std::size_t lane = 0; j < last; ++lane, ++j) {
      const double x = value(j);
      lanes[lane] += x * x;
    }
    for (auto half = norm_lanes / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half; ++lane)
        lanes[lane] += lanes[lane + half];
    total += lanes[0];
  }
  return total;
}

} // namespace

TROUPE_CLONES std::size_t outside(f32_reader values, double weight, double max,
                                  std::size_t n) {
  return outside_loop(values, weight, max, n);
}

TROUPE_CLONES std::size_t outside(f16_reader values, double weight, double max,
                                  std::size_t n) {
  return outside_loop(values, weight, max, n);
}

TROUPE_CLONES std::size_t outside(int8_reader values, double weight, double max,
                                  std::size_t n) {
  return outside_loop(values, weight, max, n);
}

TROUPE_CLONES std::size_t add(f32_reader values, double weight, grid g,
                              double* sum, std::size_t n) {
  return add_loop(values, weight, g, sum, n);
}

TROUPE_CLONES std::size_t add(f16_reader values, double weight, grid g,
                              double* sum, std::size_t n) {
  return add_loop(values, weight, g, sum, n);
}

TROUPE_CLONES std::size_t add(int8_reader values, double weight, grid g,
                              double* sum, std::size_t n) {
  return add_loop(values, weight, g, sum, n);
}

TROUPE_CLONES void finish(const float* base, const double* sum, scale by,
                          float* out, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j)
    out[j] = static_cast<float>(static_cast<double>(base[j])
                                + by.rate * (sum[j] / by.total));
}

TROUPE_CLONES void finish(const float* base, const double* sum, double total,
                          const server_step& step, double* first,
                          double* second, float* out, std::size_t n) {
  const auto how = step; // A copy that no store can change.
  switch (how.rule) {
    case server_rule::plain:
      break;
    case server_rule::momentum:
      return finish_loop<server_rule::momentum>(base, sum, total, how, first,
                                                second, out, n);
    case server_rule::adam:
      return finish_loop<server_rule::adam>(base, sum, total, how, first,
                                            second, out, n);
    case server_rule::yogi:
      return finish_loop<server_rule::yogi>(base, sum, total, how, first,
                                            second, out, n);
    case server_rule::adagrad:
      return finish_loop<server_rule::adagrad>(base, sum, total, how, first,
                                               second, out, n);
  }
}

TROUPE_CLONES double sum_of_squares(const float* values, std::size_t n) {
  return squares_loop(
    n, [=](std::size_t j) __attribute__((always_inline)) {
      return static_cast<double>(values[j]);
    });
}

TROUPE_CLONES double squared_distance(const float* a, double scale_a,
                                      const float* b, double scale_b,
                                      std::size_t n) {
  return squares_loop(
    n, [=](std::size_t j) __attribute__((always_inline)) {
      return scale_a * static_cast<double>(a[j])
             - scale_b * static_cast<double>(b[j]);
    });
}

TROUPE_CLONES void multiply(float* values, double factor, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j)
    values[j] = static_cast<float>(static_cast<double>(values[j]) * factor);
}

TROUPE_CLONES void add_decay(float* __restrict gradient, float factor,
                             const float* __restrict weights, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j)
    gradient[j] = std::fma(factor, weights[j], gradient[j]);
}

TROUPE_CLONES void add_proximal(float* __restrict gradient, float factor,
                                const float* __restrict weights,
                                const float* __restrict anchor, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j)
    gradient[j] = std::fma(factor, weights[j] - anchor[j], gradient[j]);
}

TROUPE_CLONES void add_correction(float* __restrict gradient,
                                  const float* __restrict correction,
                                  std::size_t n) {
  for (std::size_t j = 0; j < n; ++j)
    gradient[j] += correction[j];
}

TROUPE_CLONES void move(const float* from, float by, const float* along,
                        float* to, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j)
    to[j] = from[j] + by * along[j];
}

TROUPE_CLONES void mean_slope(const float* from, const float* to, double way,
                              const float* less, float* out, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j)
    out[j] = static_cast<float>(
      (static_cast<double>(from[j]) - static_cast<double>(to[j])) / way
      - static_cast<double>(less[j]));
}

TROUPE_CLONES void descend(float* __restrict weights, float rate,
                           float* __restrict gradient, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    weights[j] = std::fma(-rate, gradient[j], weights[j]);
    gradient[j] = 0;
  }
}

TROUPE_CLONES void descend_with_momentum(float* __restrict weights,
                                         const sgd_step& how,
                                         float* __restrict gradient,
                                         float* __restrict momentum,
                                         std::size_t n) {
  const auto keep = how.momentum;
  if (how.first)
    std::copy_n(gradient, n, momentum);
  else
    for (std::size_t j = 0; j < n; ++j)
      momentum[j] = keep * momentum[j] + gradient[j];
  const auto rate = how.rate;
  for (std::size_t j = 0; j < n; ++j) {
    weights[j] = std::fma(-rate, momentum[j], weights[j]);
    gradient[j] = 0;
  }
}

// Ranks go by fours here, and rows below, so that there is less to read and
// write; each value is summed in the same order as one by one.

TROUPE_CLONES void expand_row(const float* base, const low_rank& x,
                              std::size_t i, float* out) {
  const auto n = x.columns, ranks = x.scale.size();
  const auto factor = [&](std::size_t k) {
    return x.scale[k] * x.u[k * x.rows + i];
  };
  std::size_t k = 0;
  for (; k + 4 <= ranks; k += 4, base = out) {
    const float f0 = factor(k), f1 = factor(k + 1), f2 = factor(k + 2),
                f3 = factor(k + 3);
    const auto* v = x.v.data() + k * n;
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j)
      out[j] = base[j] + f0 * v[j] + f1 * v[n + j] + f2 * v[2 * n + j]
               + f3 * v[3 * n + j];
  }
  for (; k < ranks; ++k, base = out) {
    const auto f = factor(k);
    const auto* v = x.v.data() + k * n;
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j)
      out[j] = base[j] + f * v[j];
  }
  if (base != out)
    std::copy_n(base, n, out);
}

namespace {

template <std::size_t Rows>
TROUPE_INLINE void shrink_loop(const float* __restrict gradient,
                               const low_rank& x, std::size_t i,
                               const low_rank_slopes& out) {
  const auto n = x.columns;
  for (std::size_t k = 0; k < x.scale.size(); ++k) {
    float u[Rows], along[Rows];
    dot<Rows>(gradient, x.v.data() + k * n, n, along);
    for (std::size_t r = 0; r < Rows; ++r) {
      u[r] = x.u[k * x.rows + i + r];
      out.u[k * x.rows + i + r] = along[r];
      out.scale[k] += static_cast<double>(u[r]) * static_cast<double>(along[r]);
    }
    auto* __restrict to = out.v.data() + k * n;
    for (std::size_t j = 0; j < n; ++j) {
      auto sum = to[j];
      for (std::size_t r = 0; r < Rows; ++r)
        sum += u[r] * gradient[r * n + j];
      to[j] = sum;
    }
  }
}

} // namespace

TROUPE_CLONES void shrink_rows(const float* gradient, const low_rank& x,
                               std::size_t i, const low_rank_slopes& out) {
  shrink_loop<shrink_rows_max>(gradient, x, i, out);
}

TROUPE_CLONES void shrink_row(const float* gradient, const low_rank& x,
                              std::size_t i, const low_rank_slopes& out) {
  shrink_loop<1>(gradient, x, i, out);
}

TROUPE_CLONES void adamw(const adamw_factors& how, float* __restrict weights,
                         float* __restrict gradient, float* __restrict first,
                         float* __restrict second, std::size_t n) {
  const auto factors = how;
  for (std::size_t j = 0; j < n; ++j) {
    auto m = first[j], v = second[j];
    weights[j] = adamw_weight(factors, weights[j], gradient[j], m, v);
    first[j] = m;
    second[j] = v;
    gradient[j] = 0;
  }
}

} // namespace troupe::kernels::loops
