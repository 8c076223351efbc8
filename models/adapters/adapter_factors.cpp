#include "models/adapters/adapter_factors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/assert.hpp"
#include "models/adapters/spectrum.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

/// The two factors of one matrix in an adapter's buffer.
template <class T>
struct factor_pair {
  std::span<T> u;
  std::span<T> v;
};

template <class T>
factor_pair<T> factors_in(const adapted_matrix& m, std::span<T> adapter) {
  return {adapter.subspan(m.u_at, m.rank * m.rows),
          adapter.subspan(m.v_at, m.rank * m.columns)};
}

double dot(floats a, floats b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
  return sum;
}

/// x -= along b, for each of these orthogonal rows b of x's length.
void project_out(const std::vector<std::vector<float>>& rows,
                 std::span<float> x) {
  for (const auto& b : rows) {
    const auto along = static_cast<float>(dot(x, b) / dot(b, b));
    for (std::size_t j = 0; j < x.size(); ++j)
      x[j] -= along * b[j];
  }
}

/// Orthogonal rows with the span of a factor's. What is left of a row that
/// depends on those before it is rounding, and says nothing.
std::vector<std::vector<float>> basis_of(floats factor, std::size_t length) {
  constexpr double least = 1e-10; // Of the squared length.
  std::vector<std::vector<float>> result;
  for (std::size_t at = 0; at < factor.size(); at += length) {
    const auto row = factor.subspan(at, length);
    std::vector<float> left(row.begin(), row.end());
    project_out(result, left);
    if (dot(left, left) > least * dot(row, row))
      result.push_back(std::move(left));
  }
  return result;
}

void make_orthogonal(std::span<float> factor, floats to, std::size_t length) {
  const auto basis = basis_of(to, length);
  for (std::size_t at = 0; at < factor.size(); at += length)
    project_out(basis, factor.subspan(at, length));
}

} // namespace

result<void> push_forward(const planned_adapter& x, floats direction,
                          kernels::backend& arithmetic, kernels::array out) {
  TROUPE_ASSERT(x.values.size() == direction.size());
  // Two products whose sum it is: each has one factor of the direction. What is
  // added as it is moves as it does.
  std::vector<float> moves_u(x.values.begin(), x.values.end());
  std::vector<float> moves_v(direction.begin(), direction.end());
  for (const auto& m : x.plan.matrices) {
    const auto u = direction.subspan(m.u_at, m.rank * m.rows);
    const auto still = x.values.subspan(m.u_at, m.rank * m.rows);
    std::ranges::copy(u, moves_u.begin() + static_cast<std::ptrdiff_t>(m.u_at));
    std::ranges::copy(still,
                      moves_v.begin() + static_cast<std::ptrdiff_t>(m.u_at));
  }
  for (const auto& y : x.plan.vectors)
    std::fill_n(moves_u.begin() + static_cast<std::ptrdiff_t>(y.in_adapter),
                y.size, 0.f);
  const std::vector<float> zeros(x.plan.model_size);
  const floats products[] = {moves_u, moves_v};
  const double shares[] = {1, 1};
  return adapter_mixture{x.plan, arithmetic}.compose(zeros, products, shares,
                                                     out);
}

void truncate(const adapter_plan& plan, std::size_t rank,
              std::span<float> adapter) {
  truncate(plan, rank_list(plan.matrices.size(), rank), adapter);
}

void truncate(const adapter_plan& plan, const rank_list& ranks,
              std::span<float> adapter) {
  TROUPE_ASSERT(ranks.size() == plan.matrices.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& m = plan.matrices[i];
    const auto first = std::min(ranks[i], m.rank);
    const auto x = factors_in(m, adapter);
    std::ranges::fill(x.u.subspan(first * m.rows), 0.f);
    std::ranges::fill(x.v.subspan(first * m.columns), 0.f);
  }
}

void make_orthogonal(const adapter_plan& plan, std::span<float> adapter,
                     const planned_adapter& to) {
  TROUPE_ASSERT(plan.matrices.size() == to.plan.matrices.size());
  for (std::size_t i = 0; i < plan.matrices.size(); ++i) {
    const auto& m = plan.matrices[i];
    const auto own = factors_in(m, adapter);
    const auto other = factors_in(to.plan.matrices[i], to.values);
    make_orthogonal(own.u, other.u, m.rows);
    make_orthogonal(own.v, other.v, m.columns);
  }
}

double tail_norm(const planned_adapter& x, std::size_t rank, double factor,
                 std::span<float> slopes) {
  const auto all =
    tail_norms(x, rank_list(x.plan.matrices.size(), rank), factor, slopes);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

std::vector<double> tail_norms(const planned_adapter& x, const rank_list& ranks,
                               double factor, std::span<float> slopes) {
  TROUPE_ASSERT(ranks.size() == x.plan.matrices.size());
  std::vector<double> norms;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& m = x.plan.matrices[i];
    const auto first = std::min(ranks[i], m.rank);
    const auto tail = [&]<class T>(std::span<T> of) {
      const auto both = factors_in(m, of);
      return factor_pair<T>{both.u.subspan(first * m.rows),
                            both.v.subspan(first * m.columns)};
    };
    const auto [u, v] = tail(x.values);
    const auto u_norm = std::sqrt(dot(u, u));
    const auto v_norm = std::sqrt(dot(v, v));
    norms.push_back(u_norm * v_norm);
    // At zero a norm has no slope, and none is taken.
    if (slopes.empty() || u_norm == 0 || v_norm == 0)
      continue;
    const auto to = tail(slopes);
    for (std::size_t j = 0; j < u.size(); ++j)
      to.u[j] += static_cast<float>(factor * v_norm / u_norm) * u[j];
    for (std::size_t j = 0; j < v.size(); ++j)
      to.v[j] += static_cast<float>(factor * u_norm / v_norm) * v[j];
  }
  return norms;
}

double norm_of_products(const adapter_plan& plan, floats values) {
  TROUPE_ASSERT(values.size() == plan.size());
  double squares = 0;
  for (const auto& m : plan.matrices) {
    const auto [u, v] = factors_in(m, values);
    for (std::size_t k = 0; k < m.rank; ++k)
      for (std::size_t l = 0; l < m.rank; ++l)
        squares +=
          m.scale * m.scale
          * dot(u.subspan(k * m.rows, m.rows), u.subspan(l * m.rows, m.rows))
          * dot(v.subspan(k * m.columns, m.columns),
                v.subspan(l * m.columns, m.columns));
  }
  for (const auto& x : plan.vectors) {
    const auto own = values.subspan(x.in_adapter, x.size);
    squares += dot(own, own);
  }
  // What is nothing may be a little less by rounding.
  return std::sqrt(std::max(squares, 0.0));
}

double product_gap(const adapter_plan& plan,
                   std::span<const merged_offer> offers) {
  std::vector<float> mean(plan.size());
  for (const auto& x : offers)
    for (std::size_t j = 0; j < mean.size(); ++j)
      mean[j] += static_cast<float>(x.part) * x.delta[j];
  std::vector<merged_offer> terms(offers.begin(), offers.end());
  terms.push_back({mean, -1});
  double squares = 0;
  for (const auto& m : plan.matrices) {
    std::vector<float> u, v, scale;
    for (const auto& x : terms) {
      const auto both = factors_in(m, x.delta);
      u.insert(u.end(), both.u.begin(), both.u.end());
      v.insert(v.end(), both.v.begin(), both.v.end());
      scale.insert(scale.end(), m.rank, static_cast<float>(x.part));
    }
    for (const auto value :
         singular_values(kernels::low_rank{m.rows, m.columns, u, v, scale}))
      squares += m.scale * m.scale * value * value;
  }
  return std::sqrt(squares);
}

std::vector<std::size_t> effective_ranks(std::span<const planned_adapter> sum) {
  std::vector<std::size_t> result;
  const auto count = sum.empty() ? 0 : sum.front().plan.matrices.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<float> u, v, scale;
    for (const auto& x : sum) {
      if (x.plan.matrices.empty())
        continue; // A head alone.
      const auto& m = x.plan.matrices[i];
      const auto both = factors_in(m, x.values);
      u.insert(u.end(), both.u.begin(), both.u.end());
      v.insert(v.end(), both.v.begin(), both.v.end());
      scale.insert(scale.end(), m.rank, static_cast<float>(m.scale));
    }
    const auto& m = sum.front().plan.matrices[i];
    result.push_back(effective_rank(
      singular_values(kernels::low_rank{m.rows, m.columns, u, v, scale})));
  }
  return result;
}

} // namespace troupe::models
