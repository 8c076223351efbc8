#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Sun et al. (2024), "Improving LoRA in Privacy-preserving Federated
/// Learning": an adapter whose inner factors stay as they began, the same for
/// all. The outer ones are merged by a plain mean, which is then the mean of
/// what adapters add, and half as much is sent.
///
///   inner_factors  of the adapter, which nobody trains
///   outer_factors  of the adapter
///   adapter        as the client left it, to be scored
recipe methods::ffa_lora() {
  return {.name = "ffa_lora",
          .summary = "an adapter whose inner factors nobody trains",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "inner_factors", .where = scope::frozen},
                     {.name = "outer_factors", .weight = weight_rule::one},
                     {.name = "adapter", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"},
                              {.family = "inner_factors"},
                              {.family = "outer_factors"}}}},
          .roles = {{.procedure = {"outer_sgd"}}},
          .personal = true,
          .options = over_frozen_model(16, ranks, adapted_layers::blocks)};
}

} // namespace troupe::policies
