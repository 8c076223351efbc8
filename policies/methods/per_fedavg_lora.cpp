#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Per-FedAvg on the factors of one adapter over a frozen model, PF2LoRA's
/// second baseline: the common adapter is where one step on a client's data
/// ends well, and its steps follow the whole gradient through that step. A
/// client is scored after one such step on examples that it trains on.
///
///   adapter       the common one; `rank` is its rank
///   left_adapter  as the client left it, to be scored
recipe methods::per_fedavg_lora() {
  return {.name = "per_fedavg_lora",
          .summary = "an adapter from which one step fits each client",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "adapter",
                      .weight = weight_rule::one,
                      .examples_option = "weights"},
                     {.name = "left_adapter", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}, {.family = "adapter"}}}},
          .roles = {{.procedure = {"common_meta_sgd"}}},
          .personal = true,
          .options =
            joined(over_frozen_model(8),
                   {{.name = "inner_rate",
                     .says = "learning rate of the step that a model is for",
                     .value = 1e-3,
                     .unit = "times the gradient"},
                    {.name = "first_order",
                     .says = "without the derivative through the inner step",
                     .kind = option_kind::flag},
                    {.name = "three_batches",
                     .says = "each derivative of a step has a batch of its own",
                     .kind = option_kind::flag},
                    weights_of_offers(),
                    moments_between_visits()})};
}

} // namespace troupe::policies
