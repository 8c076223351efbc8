#pragma once

// What stands beside a product: sums of products of low rank, which are added
// to what a layer says and never become a matrix of the layer's size.

#include <cstddef>
#include <span>

namespace troupe::kernels {

/// Products of low rank beside a product: row x gets the sum over terms c of
/// scale * w_c(x) * U_c^T (V_c x). Factors lie rank-major, all terms' ranks
/// behind each other.
struct side_terms {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::span<const std::size_t> ranks = {}; ///< Of each term.
  std::span<const float> u = {};           ///< all ranks x outputs
  std::span<const float> v = {};           ///< all ranks x inputs
  float scale = 1;
  /// Empty: ones; one per term; or rows x terms.
  std::span<const float> weights = {};

  /// Of all together.
  std::size_t rank() const noexcept {
    std::size_t sum = 0;
    for (const auto x : ranks)
      sum += x;
    return sum;
  }

  /// What a term counts in a row. @pre the term is there
  float weight(std::size_t row, std::size_t term) const noexcept {
    if (weights.empty())
      return 1;
    return weights.size() == ranks.size() ? weights[term]
                                          : weights[row * ranks.size() + term];
  }
};

/// Where slopes are *added*; what is empty is not computed.
struct side_slopes {
  std::span<float> u = {};
  std::span<float> v = {};
  std::span<float> rows = {};
  std::span<double> weights = {}; ///< As many as there are weights.
};

} // namespace troupe::kernels
