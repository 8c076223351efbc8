#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Hao et al., "Personalized Federated Fine-tuning for Heterogeneous Data: An
/// Automatic Rank Learning Approach via Two-Level LoRA": over a frozen model,
/// one adapter of rank r that all train and one of lower rank that each client
/// keeps. A step moves the client's once by plain SGD, then the common one
/// along the hypergradient through that step. The common one is merged by a
/// plain mean of its factors.
///
///   adapter       the common one; `rank` is its rank
///   own_adapter   the client's; `own_rank` is its rank
///   left_adapter  the common one as the client left it, to be scored
recipe methods::pf2lora() {
  return {.name = "pf2lora",
          .summary =
            "a common adapter and one of each client's own, on two levels",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "adapter",
                      .weight = weight_rule::one,
                      .examples_option = "weights"},
                     {.name = "own_adapter", .where = scope::personal},
                     {.name = "left_adapter", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}, {.family = "adapter"}}}},
          .roles = {{.procedure = {"two_level_sgd"}}},
          .personal = true,
          .options =
            joined(over_frozen_model(8),
                   {{.name = "own_rank",
                     .says = "of each client's own adapter",
                     .kind = option_kind::whole,
                     .value = 2,
                     .range = ranks,
                     .unit = "ranks",
                     .was = "own_budget"},
                    {.name = "inner_rate",
                     .says = "learning rate of what is a client's own",
                     .value = 1e-3,
                     .unit = "times the gradient"},
                    {.name = "first_order",
                     .says = "without the derivative through the inner step",
                     .kind = option_kind::flag},
                    {.name = "joint",
                     .says = "both levels step from the same point",
                     .kind = option_kind::flag},
                    head_of_clients(),
                    {.name = "four_batches",
                     .says = "each derivative of a step has a batch of its own",
                     .kind = option_kind::flag},
                    weights_of_offers(),
                    moments_between_visits()})};
}

} // namespace troupe::policies
