#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// PF2LoRA's first baseline, FedAvg on the factors of one adapter of one rank
/// over a frozen model, with a plain mean. The publication gives it rank 8, and
/// 12 where it may have more parameters than PF2LoRA.
recipe methods::homlora() {
  return {.name = "homlora",
          .summary = "one adapter of one rank that all train",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "adapter",
                      .weight = weight_rule::one,
                      .examples_option = "weights"},
                     {.name = "left_adapter", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}, {.family = "adapter"}}}},
          .roles = {{.procedure = {"common_sgd"}}},
          .options = joined(
            over_frozen_model(8),
            {head_of_clients(), weights_of_offers(), moments_between_visits()}),
          .own = {"own_adapter", "head"}};
}

} // namespace troupe::policies
