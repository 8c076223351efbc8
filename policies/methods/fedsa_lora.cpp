#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Guo et al. (2025), "Selective Aggregation for Low-Rank Adaptation in
/// Federated Learning": inner factors are merged by a plain mean, outer ones
/// stay with the client.
///
///   inner_factors  of the adapter
///   adapter        as the client left it: its outer factors, and to be scored
recipe methods::fedsa_lora() {
  return {.name = "fedsa_lora",
          .summary = "an adapter whose outer factors each client keeps",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "inner_factors", .weight = weight_rule::one},
                     {.name = "adapter", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}, {.family = "inner_factors"}}}},
          .roles = {{.procedure = {"shared_inner_sgd"}}},
          .personal = true,
          .options = over_frozen_model(16, ranks, adapted_layers::blocks)};
}

} // namespace troupe::policies
