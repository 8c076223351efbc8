#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Hao et al., "Personalized Federated Fine-tuning for Heterogeneous Data: An
/// Automatic Rank Learning Approach via Two-Level LoRA": over a frozen model,
/// one adapter of rank r that all train and one of lower rank that each client
/// keeps. A step moves the client's once by plain SGD, then the common one
/// along the hypergradient through that step. The common one is merged by a
/// plain mean of its factors.
///
///   adapter       the common one; `budget` is its rank
///   own_adapter   the client's; `own_budget` is its rank
///   left_adapter  the common one as the client left it, to be scored
recipe methods::pf2lora() {
  return {.name = "pf2lora",
          .summary =
            "a common adapter and one of each client's own, on two levels",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "adapter", .weight = weight_rule::one},
                     {.name = "own_adapter", .where = scope::personal},
                     {.name = "left_adapter", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "adapter"}}}},
          .roles = {{.procedure = {"two_level_sgd"}}},
          .personal = true,
          .defaults = {{"budget", 8},
                       {"own_budget", 2},
                       {"inner_rate", 1e-3},
                       {"first_order", 0},
                       {"joint", 0}, // Both levels step from the same point.
                       {"four_batches", 0},
                       {"printed_schedule", 0},
                       {"convolution", 0},
                       {"adapter_bias", 0},
                       {"init_scale", 1},
                       {"normal_start", 0}}}; // 1: the inner factor; 2: both.
}

} // namespace troupe::policies
