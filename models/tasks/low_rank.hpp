#pragma once

// PF2LoRA's synthetic task: two clients, y = W_k x + noise with W_k of 10 x 10
// and of rank 3 and 4, of which an adapter has to find out.

#include <cstdint>
#include <memory>
#include <vector>

#include "models/tasks/regression.hpp"

namespace troupe::models {

struct low_rank_options {
  enum class truth : std::uint8_t {
    /// As published: both factors of each W_k are standard normal. What the
    /// truths differ by has rank 7.
    gaussian,
    /// All singular values are 8; two directions are shared, one and two are
    /// private. So a common matrix of rank 2 and private ones of rank 2 do.
    aligned,
  };

  truth task = truth::gaussian;
  std::uint64_t seed = 1;
};

struct low_rank_problem {
  std::shared_ptr<const regression_problem> rows; ///< 700 and 300 of a client.
  /// Of each client, the parameters that made its rows.
  std::vector<std::vector<float>> truths;
};

/// Inputs are standard normal; the noise of client k deviates by 0.1 k. The
/// model has no bias and begins at zero; a row's loss is its squared error.
low_rank_problem make_low_rank_problem(const low_rank_options& how);

} // namespace troupe::models
