#include "models/adapters/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

constexpr auto epsilon = std::numeric_limits<double>::epsilon();

dense transposed(const dense& x) {
  dense y{x.columns, x.rows, std::vector<double>(x.values.size())};
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j)
      y.at(j, i) = x.at(i, j);
  return y;
}

/// Columns p and q of x, turned.
void turn(dense& x, std::size_t p, std::size_t q, double cosine, double sine) {
  for (std::size_t i = 0; i < x.rows; ++i) {
    const auto a = x.at(i, p);
    const auto b = x.at(i, q);
    x.at(i, p) = cosine * a - sine * b;
    x.at(i, q) = sine * a + cosine * b;
  }
}

/// One of Jacobi's rotations, after which columns p and q are orthogonal; those
/// of `along`, if that is not null, turn with them. Returns whether they were
/// not. A column whose square is up to `nothing` is orthogonal to all.
bool rotate(dense& x, std::size_t p, std::size_t q, dense* along,
            double nothing) {
  double pp = 0, qq = 0, pq = 0;
  for (std::size_t i = 0; i < x.rows; ++i) {
    pp += x.at(i, p) * x.at(i, p);
    qq += x.at(i, q) * x.at(i, q);
    pq += x.at(i, p) * x.at(i, q);
  }
  if (std::min(pp, qq) <= nothing
      || std::abs(pq) <= epsilon * std::sqrt(pp * qq))
    return false;
  const auto zeta = (qq - pp) / (2 * pq);
  const auto tangent =
    std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
  const auto cosine = 1 / std::hypot(1, tangent);
  const auto sine = cosine * tangent;
  turn(x, p, q, cosine, sine);
  if (along != nullptr)
    turn(*along, p, q, cosine, sine);
  return true;
}

double length_of(const dense& x, std::size_t column) {
  double squares = 0;
  for (std::size_t i = 0; i < x.rows; ++i)
    squares += x.at(i, column) * x.at(i, column);
  return std::sqrt(squares);
}

void multiply(dense& x, std::size_t column, double by) {
  for (std::size_t i = 0; i < x.rows; ++i)
    x.at(i, column) *= by;
}

/// Turns columns of x until they are orthogonal, and those of `along` with
/// them.
void orthogonalise(dense& x, dense* along = nullptr) {
  constexpr int sweeps_max = 60; // Ten do for what is not made to last.
  const auto squares =
    std::inner_product(x.values.begin(), x.values.end(), x.values.begin(), 0.0);
  bool moved = true;
  for (int sweep = 0; moved && sweep < sweeps_max; ++sweep) {
    moved = false;
    for (std::size_t p = 0; p < x.columns; ++p)
      for (std::size_t q = p + 1; q < x.columns; ++q)
        moved |= rotate(x, p, q, along, epsilon * epsilon * squares);
  }
}

/// Columns of x from `first` on, reflected: of each the rows from `row` on.
void reflect(dense& x, std::size_t row, const std::vector<double>& v,
             std::size_t first) {
  if (v.empty())
    return;
  const auto length = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  for (std::size_t j = first; j < x.columns; ++j) {
    double dot = 0;
    for (std::size_t i = row; i < x.rows; ++i)
      dot += v[i - row] * x.at(i, j);
    for (std::size_t i = row; i < x.rows; ++i)
      x.at(i, j) -= 2 * dot / length * v[i - row];
  }
}

/// x = Q R, by Householder's reflections.
struct triangular {
  std::size_t rows = 0; ///< Of x.
  /// What Q is made of; the k-th is of rows from k on, or empty.
  std::vector<std::vector<double>> reflections;
  dense r; ///< It has the smaller extent of x as rows.
};

triangular triangle_of(dense x) {
  const auto steps = std::min(x.rows, x.columns);
  triangular found{
    .rows = x.rows,
    .reflections = std::vector<std::vector<double>>(steps),
    .r = {steps, x.columns, std::vector<double>(steps * x.columns)}};
  for (std::size_t k = 0; k < steps; ++k) {
    double squares = 0;
    for (std::size_t i = k; i < x.rows; ++i)
      squares += x.at(i, k) * x.at(i, k);
    if (squares == 0)
      continue;
    auto& v = found.reflections[k];
    v.resize(x.rows - k);
    for (std::size_t i = k; i < x.rows; ++i)
      v[i - k] = x.at(i, k);
    v[0] += std::copysign(std::sqrt(squares), v[0]);
    reflect(x, k, v, k);
  }
  for (std::size_t i = 0; i < steps; ++i)
    for (std::size_t j = i; j < x.columns; ++j)
      found.r.at(i, j) = x.at(i, j);
  return found;
}

/// Q y, for y of as many rows as R.
dense brought_back(const triangular& by, const dense& y) {
  dense x{by.rows, y.columns, std::vector<double>(by.rows * y.columns)};
  std::ranges::copy(y.values, x.values.begin());
  for (auto k = by.reflections.size(); k-- > 0;)
    reflect(x, k, by.reflections[k], 0);
  return x;
}

/// What is between two Q's: R of the one times R^T of the other.
dense core_of(const dense& left, const dense& right) {
  dense core{left.rows, right.rows,
             std::vector<double>(left.rows * right.rows)};
  for (std::size_t i = 0; i < core.rows; ++i)
    for (std::size_t j = 0; j < core.columns; ++j)
      for (std::size_t k = 0; k < left.columns; ++k)
        core.at(i, j) += left.at(i, k) * right.at(j, k);
  return core;
}

dense identity(std::size_t size) {
  dense x{size, size, std::vector<double>(size * size)};
  for (std::size_t i = 0; i < size; ++i)
    x.at(i, i) = 1;
  return x;
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

/// The other way around. @pre `to` has room for a rank at that place
void put_rank(const dense& from, std::size_t column, double times,
              std::size_t rank, std::vector<float>& to) {
  for (std::size_t i = 0; i < from.rows; ++i)
    to[rank * from.rows + i] = static_cast<float>(times * from.at(i, column));
}

/// The largest length that a rank has: what is far below it may be what
/// rounding has left of values that cancel.
double longest_of(const dense& left, const dense& right) {
  double longest = 0;
  for (std::size_t k = 0; k < left.columns; ++k)
    longest = std::max(longest, length_of(left, k) * length_of(right, k));
  return longest;
}

/// Of a column's largest entry, the first of those that are equal.
double sign_of_largest(const dense& x, std::size_t column) {
  double largest = 0;
  for (std::size_t i = 0; i < x.rows; ++i)
    if (const auto entry = x.at(i, column); std::abs(entry) > std::abs(largest))
      largest = entry;
  return std::copysign(1, largest);
}

/// A singular value, and the column that has it as its length.
struct found_value {
  double value = 0;
  std::size_t column = 0;
};

/// In descending order, as many as these at most; without those that rounding
/// could have made.
std::vector<found_value> values_of(const dense& x, std::size_t most,
                                   double longest) {
  constexpr double rounding = std::numeric_limits<float>::epsilon();
  std::vector<found_value> all;
  for (std::size_t k = 0; k < x.columns; ++k)
    if (const auto value = length_of(x, k); value > rounding * longest)
      all.push_back({value, k});
  std::ranges::stable_sort(all, std::greater{}, &found_value::value);
  if (all.size() > most)
    all.resize(most);
  return all;
}

dense scaled_columns(const kernels::low_rank& x) {
  auto u = columns_of(x.u, x.rows);
  for (std::size_t k = 0; k < u.columns; ++k)
    multiply(u, k, static_cast<double>(x.scale[k]));
  return u;
}

} // namespace

std::vector<double> singular_values(const dense& x) {
  TROUPE_ASSERT(x.values.size() == x.rows * x.columns);
  auto turned = x.columns > x.rows ? transposed(x) : x;
  orthogonalise(turned);
  std::vector<double> result;
  for (std::size_t j = 0; j < turned.columns; ++j)
    result.push_back(length_of(turned, j));
  std::ranges::sort(result, std::greater{});
  return result;
}

std::vector<double> singular_values(const kernels::low_rank& x) {
  return singular_values(core_of(triangle_of(scaled_columns(x)).r,
                                 triangle_of(columns_of(x.v, x.columns)).r));
}

product_factors best_of_rank(const kernels::low_rank& x, std::size_t rank) {
  auto left = scaled_columns(x);
  auto right = columns_of(x.v, x.columns);
  const auto longest = longest_of(left, right);
  // First the left ones become orthogonal and of length one; then the right
  // ones orthogonal, which leaves the left ones so.
  orthogonalise(left, &right);
  for (std::size_t k = 0; k < left.columns; ++k) {
    const auto length = length_of(left, k);
    multiply(left, k, length > 0 ? 1 / length : 0);
    multiply(right, k, length);
  }
  orthogonalise(right, &left);
  product_factors found{std::vector<float>(rank * x.rows),
                        std::vector<float>(rank * x.columns)};
  std::size_t to = 0;
  for (const auto& [value, k] : values_of(right, rank, longest)) {
    for (std::size_t i = 0; i < x.rows; ++i)
      found.u[to * x.rows + i] =
        static_cast<float>(left.at(i, k) * std::sqrt(value));
    for (std::size_t i = 0; i < x.columns; ++i)
      found.v[to * x.columns + i] =
        static_cast<float>(right.at(i, k) / std::sqrt(value));
    ++to;
  }
  return found;
}

product_factors decompose(const kernels::low_rank& x, std::size_t rank) {
  const auto outer = scaled_columns(x);
  const auto inner = columns_of(x.v, x.columns);
  const auto longest = longest_of(outer, inner);
  const auto left = triangle_of(outer);
  const auto right = triangle_of(inner);
  // Its columns, turned until they are orthogonal, are the left vectors times
  // the values; what turned them are the right ones.
  auto core = core_of(left.r, right.r);
  auto turned = identity(core.columns);
  orthogonalise(core, &turned);
  const auto us = brought_back(left, core);
  const auto vs = brought_back(right, turned);
  product_factors found{std::vector<float>(rank * x.rows),
                        std::vector<float>(rank * x.columns)};
  std::size_t to = 0;
  for (const auto& one : values_of(core, rank, longest)) {
    const auto sign = sign_of_largest(vs, one.column);
    put_rank(us, one.column, sign, to, found.u);
    put_rank(vs, one.column, sign, to, found.v);
    ++to;
  }
  return found;
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
