#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

namespace {

using methods::components;
using methods::joined;
using methods::of_mixture;

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
          .options = joined(of_mixture(), {components(4, "models")})};
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
  std::erase_if(method.options, [](const option_spec& x) {
    return x.name.starts_with("router");
  });
  return method;
}

} // namespace troupe::policies
