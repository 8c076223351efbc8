#include "policies/methods/methods.hpp"

namespace troupe::policies {

namespace {

recipe several_models(std::string name, std::string summary) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .blocks = {{.name = "model",
                      .where = scope::expert,
                      .count = 4,
                      .weight = weight_rule::examples_times_share,
                      .count_option = "components"},
                     {.name = "mixture", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}}}},
          .roles = {{.procedure = {"ensemble_sgd"}}},
          .personal = true,
          .disclosures = {{.name = "pi",
                           .count_max = 4,
                           .sum = 1,
                           .count_option = "components"}},
          .defaults = {{"components", 4},  // C.
                       {"router_rate", 0}, // 0: the learning rate.
                       {"router_noise", 0}}};
}

} // namespace

/// FLoRAL's upper baseline: C whole models in place of C adapters. A client
/// mixes their outputs by the softmax of logits of its own; model c is merged
/// by n_k pi_c, with pi as it is after training.
recipe methods::ensemble() {
  return several_models("ensemble",
                        "whole models whose outputs each client mixes");
}

/// The same where client k uses and trains model k mod C alone, for ever: one
/// FedAvg per cluster, for those who know the clusters.
recipe methods::ensemble_optimal() {
  auto method =
    several_models("ensemble_optimal", "one FedAvg per cluster: the oracle");
  method.roles = {{.procedure = {"tied_ensemble_sgd"}}};
  std::erase_if(method.blocks,
                [](const block_spec& x) { return x.name == "mixture"; });
  std::erase_if(method.defaults,
                [](const auto& x) { return x.first.starts_with("router"); });
  return method;
}

} // namespace troupe::policies
