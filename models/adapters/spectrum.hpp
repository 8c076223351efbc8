#pragma once

// Singular values: of any small matrix, and of a product of low rank from its
// factors alone, whose core has the rank's size and not the matrix's.

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/backend.hpp"

namespace troupe::models {

/// A dense matrix, row-major.
struct dense {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values = {};

  double& at(std::size_t i, std::size_t j) {
    return values[i * columns + j];
  }
  double at(std::size_t i, std::size_t j) const {
    return values[i * columns + j];
  }
};

/// In descending order; as many as the smaller extent.
std::vector<double> singular_values(const dense& x);

/// Those of the sum of scale[k] u_k v_k^T that may differ from zero.
std::vector<double> singular_values(const kernels::low_rank& x);

/// Two factors of a matrix, each rank-major.
struct product_factors {
  std::vector<float> u;
  std::vector<float> v;
};

/// The best approximation of this rank to the sum of scale[k] u_k v_k^T. Both
/// factors have the roots of the singular values; ranks for which there are no
/// values (or none that rounding could not have made) are zero.
product_factors best_of_rank(const kernels::low_rank& x, std::size_t rank);

/// The same by the singular value decomposition of the core that is between the
/// factors: ranks of v have length one, those of u have the values, and the
/// largest entry of a rank of v is positive. For factors that are long: what is
/// turned is of their number of ranks, and not of their length.
product_factors decompose(const kernels::low_rank& x, std::size_t rank);

/// How many of the largest values it takes for this share of their sum; 0 where
/// all are zero. @pre in descending order
std::size_t effective_rank(std::span<const double> values, double share = 0.9);

} // namespace troupe::models
