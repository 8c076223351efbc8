#include "models/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

dense transposed(const dense& x) {
  dense y{x.columns, x.rows, std::vector<double>(x.values.size())};
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j)
      y.at(j, i) = x.at(i, j);
  return y;
}

/// One of Jacobi's rotations, after which columns p and q are orthogonal.
/// Returns whether they were not.
bool rotate(dense& x, std::size_t p, std::size_t q) {
  double pp = 0, qq = 0, pq = 0;
  for (std::size_t i = 0; i < x.rows; ++i) {
    pp += x.at(i, p) * x.at(i, p);
    qq += x.at(i, q) * x.at(i, q);
    pq += x.at(i, p) * x.at(i, q);
  }
  constexpr auto epsilon = std::numeric_limits<double>::epsilon();
  if (std::abs(pq) <= epsilon * std::sqrt(pp * qq))
    return false;
  const auto zeta = (qq - pp) / (2 * pq);
  const auto tangent =
    std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
  const auto cosine = 1 / std::hypot(1, tangent);
  const auto sine = cosine * tangent;
  for (std::size_t i = 0; i < x.rows; ++i) {
    const auto a = x.at(i, p);
    const auto b = x.at(i, q);
    x.at(i, p) = cosine * a - sine * b;
    x.at(i, q) = sine * a + cosine * b;
  }
  return true;
}

/// R of x = Q R by Householder's reflections; it has the smaller extent of x as
/// rows.
dense triangle_of(dense x) {
  const auto steps = std::min(x.rows, x.columns);
  for (std::size_t k = 0; k < steps; ++k) {
    double squares = 0;
    for (std::size_t i = k; i < x.rows; ++i)
      squares += x.at(i, k) * x.at(i, k);
    if (squares == 0)
      continue;
    std::vector<double> v(x.rows - k);
    for (std::size_t i = k; i < x.rows; ++i)
      v[i - k] = x.at(i, k);
    v[0] += std::copysign(std::sqrt(squares), v[0]);
    const auto length = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
    for (std::size_t j = k; j < x.columns; ++j) {
      double dot = 0;
      for (std::size_t i = k; i < x.rows; ++i)
        dot += v[i - k] * x.at(i, j);
      for (std::size_t i = k; i < x.rows; ++i)
        x.at(i, j) -= 2 * dot / length * v[i - k];
    }
  }
  dense r{steps, x.columns, std::vector<double>(steps * x.columns)};
  for (std::size_t i = 0; i < steps; ++i)
    for (std::size_t j = i; j < x.columns; ++j)
      r.at(i, j) = x.at(i, j);
  return r;
}

/// A factor that lies rank-major, with its ranks as columns.
dense columns_of(std::span<const float> factor, std::size_t length) {
  const auto rank = factor.size() / length;
  dense x{length, rank, std::vector<double>(factor.size())};
  for (std::size_t k = 0; k < rank; ++k)
    for (std::size_t i = 0; i < length; ++i)
      x.at(i, k) = factor[k * length + i];
  return x;
}

} // namespace

std::vector<double> singular_values(const dense& x) {
  TROUPE_ASSERT(x.values.size() == x.rows * x.columns);
  auto turned = x.columns > x.rows ? transposed(x) : x;
  constexpr int sweeps_max = 60; // Ten do for what is not made to last.
  bool moved = true;
  for (int sweep = 0; moved && sweep < sweeps_max; ++sweep) {
    moved = false;
    for (std::size_t p = 0; p < turned.columns; ++p)
      for (std::size_t q = p + 1; q < turned.columns; ++q)
        moved |= rotate(turned, p, q);
  }
  std::vector<double> result;
  for (std::size_t j = 0; j < turned.columns; ++j) {
    double squares = 0;
    for (std::size_t i = 0; i < turned.rows; ++i)
      squares += turned.at(i, j) * turned.at(i, j);
    result.push_back(std::sqrt(squares));
  }
  std::ranges::sort(result, std::greater{});
  return result;
}

std::vector<double> singular_values(const kernels::low_rank& x) {
  auto u = columns_of(x.u, x.rows);
  for (std::size_t i = 0; i < u.rows; ++i)
    for (std::size_t k = 0; k < u.columns; ++k)
      u.at(i, k) *= static_cast<double>(x.scale[k]);
  const auto left = triangle_of(std::move(u));
  const auto right = triangle_of(columns_of(x.v, x.columns));
  dense core{left.rows, right.rows,
             std::vector<double>(left.rows * right.rows)};
  for (std::size_t i = 0; i < core.rows; ++i)
    for (std::size_t j = 0; j < core.columns; ++j)
      for (std::size_t k = 0; k < left.columns; ++k)
        core.at(i, j) += left.at(i, k) * right.at(j, k);
  return singular_values(core);
}

std::size_t effective_rank(std::span<const double> values, double share) {
  const auto all = std::accumulate(values.begin(), values.end(), 0.0);
  double sum = 0;
  std::size_t rank = 0;
  while (rank < values.size() && sum < share * all)
    sum += values[rank++];
  return rank;
}

} // namespace troupe::models
