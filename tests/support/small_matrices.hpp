#pragma once

// Matrices of some rows and columns, in double precision, for tests that
// compute a theory's quantities themselves.

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "models/adapters/spectrum.hpp"

namespace troupe::test {

using vector_of_reals = std::vector<double>;

inline models::dense zeros(std::size_t rows, std::size_t columns) {
  return {rows, columns, vector_of_reals(rows * columns)};
}

inline models::dense transposed(const models::dense& x) {
  auto y = zeros(x.columns, x.rows);
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j)
      y.at(j, i) = x.at(i, j);
  return y;
}

/// So many rows and columns from a place on.
struct matrix_part {
  std::size_t row = 0, column = 0, rows = 0, columns = 0;
};

inline models::dense part_of(const models::dense& x, const matrix_part& which) {
  auto y = zeros(which.rows, which.columns);
  for (std::size_t i = 0; i < which.rows; ++i)
    for (std::size_t j = 0; j < which.columns; ++j)
      y.at(i, j) = x.at(which.row + i, which.column + j);
  return y;
}

/// @pre x has a column for each value
inline vector_of_reals product(const models::dense& x,
                               const vector_of_reals& of) {
  vector_of_reals y(x.rows);
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j)
      y[i] += x.at(i, j) * of[j];
  return y;
}

/// a + by * b. @pre as many of each
inline vector_of_reals sum(vector_of_reals a, double by,
                           const vector_of_reals& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] += by * b[i];
  return a;
}

inline double inner_product(const vector_of_reals& a,
                            const vector_of_reals& b) {
  double all = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    all += a[i] * b[i];
  return all;
}

inline double length(const vector_of_reals& x) {
  return std::sqrt(inner_product(x, x));
}

/// Solves a x = b by Cholesky's factors. @pre a is positive definite
inline vector_of_reals solved(models::dense a, vector_of_reals b) {
  const auto n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k)
        a.at(i, j) -= a.at(i, k) * a.at(j, k);
      a.at(i, j) = i == j ? std::sqrt(a.at(j, j)) : a.at(i, j) / a.at(j, j);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k)
      b[i] -= a.at(i, k) * b[k];
    b[i] /= a.at(i, i);
  }
  for (auto i = n; i-- > 0;) {
    for (auto k = i + 1; k < n; ++k)
      b[i] -= a.at(k, i) * b[k];
    b[i] /= a.at(i, i);
  }
  return b;
}

inline vector_of_reals drawn_reals(std::size_t size, random_stream& draws) {
  vector_of_reals x(size);
  for (auto& value : x)
    value = draws.normal();
  return x;
}

/// The mean square of normal draws, and `ridge` in the diagonal. Where `spread`
/// is above zero rows and columns are of different scales.
struct positive_form {
  std::size_t size = 1;
  double ridge = 0;
  double spread = 0;
};

inline models::dense drawn_positive(const positive_form& how,
                                    random_stream& draws) {
  const auto size = how.size;
  auto half = zeros(size, size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto scale = std::exp(how.spread * draws.normal());
    for (std::size_t j = 0; j < size; ++j)
      half.at(i, j) = scale * draws.normal();
  }
  auto x = zeros(size, size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k < size; ++k)
        x.at(i, j) += half.at(i, k) * half.at(j, k);
      x.at(i, j) /= static_cast<double>(size);
      x.at(i, j) += i == j ? how.ridge : 0;
    }
  return x;
}

/// The least and the largest of a positive definite matrix: its singular values
/// are its eigenvalues.
struct eigenvalue_range {
  double least = 0;
  double largest = 0;
};

inline eigenvalue_range eigenvalues_of(const models::dense& x) {
  const auto all = models::singular_values(x);
  return {.least = all.back(), .largest = all.front()};
}

} // namespace troupe::test
