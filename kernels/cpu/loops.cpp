#include "kernels/cpu/loops.hpp"

#include <algorithm>
#include <cmath>

// Sanitizers also instrument the resolvers that choose a clone, which run
// before the sanitizers are ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)            \
  && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TROUPE_CLONES                                                          \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TROUPE_CLONES
#endif

// A clone vectorizes what is inlined into it.
#define TROUPE_INLINE [[gnu::always_inline]] inline

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

/// Lanes of a sum of floats; they are added pair by pair in the end.
constexpr std::size_t dot_lanes = 16;

TROUPE_INLINE float dot(const float* a, const float* b, std::size_t n) {
  float lanes[dot_lanes] = {};
  std::size_t j = 0;
  for (; j + dot_lanes <= n; j += dot_lanes)
    for (std::size_t lane = 0; lane < dot_lanes; ++lane)
      lanes[lane] += a[j + lane] * b[j + lane];
  for (std::size_t lane = 0; j < n; ++lane, ++j)
    lanes[lane] += a[j] * b[j];
  for (auto half = dot_lanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane)
      lanes[lane] += lanes[lane + half];
  return lanes[0];
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

TROUPE_CLONES void expand_row(const float* base, const low_rank& x,
                              std::size_t i, float* __restrict out) {
  const auto n = x.columns;
  std::copy_n(base, n, out);
  for (std::size_t k = 0; k < x.scale.size(); ++k) {
    const float factor = x.scale[k] * x.u[k * x.rows + i];
    const auto* v = x.v.data() + k * n;
    for (std::size_t j = 0; j < n; ++j)
      out[j] += factor * v[j];
  }
}

TROUPE_CLONES void shrink_row(const float* gradient, const low_rank& x,
                              std::size_t i, const low_rank_slopes& out) {
  const auto n = x.columns;
  for (std::size_t k = 0; k < x.scale.size(); ++k) {
    const auto along = dot(gradient, x.v.data() + k * n, n);
    const auto u = x.u[k * x.rows + i];
    auto* __restrict to = out.v.data() + k * n;
    out.u[k * x.rows + i] = along;
    out.scale[k] += static_cast<double>(u) * static_cast<double>(along);
    for (std::size_t j = 0; j < n; ++j)
      to[j] += u * gradient[j];
  }
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
