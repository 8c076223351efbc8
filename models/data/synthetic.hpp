#pragma once

#include <cstdint>

#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

/// FedProx's synthetic(alpha, beta) (Li et al., 2020, and the authors'
/// generator).
struct synthetic_options {
  double alpha =
    1;             ///< Standard deviation of u_k: how much local models differ.
  double beta = 1; ///< Standard deviation of B_k: how much local inputs differ.
  std::uint32_t clients = 30;
  std::uint32_t dimensions = 60;
  std::uint32_t classes = 10;
  std::uint64_t seed = 0;
};

/// Client k draws u_k ~ N(0, alpha), B_k ~ N(0, beta), v_k ~ N(B_k, 1) per
/// dimension, W_k and b_k ~ N(u_k, 1) per entry, then n_k = int(lognormal(4,
/// 2)) + 50 examples x ~ N(v_k, S), S_jj = j^-1.2, labelled arg max(W_k x +
/// b_k). The first 90 % of a client's examples train, the others test;
/// `natural` says whose they are, `partition_column` numbers the clients from
/// 0. One input `x`. A client's examples do not depend on how many clients
/// there are. Returns `invalid_config` if an option is out of range.
[[nodiscard]] result<dataset> make_synthetic(const synthetic_options& opts);

} // namespace troupe::models
