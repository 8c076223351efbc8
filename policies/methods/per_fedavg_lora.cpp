#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Per-FedAvg on the factors of one adapter over a frozen model, PF2LoRA's
/// second baseline: the common adapter is where one step on a client's data
/// ends well, and its steps follow the whole gradient through that step. A
/// client is scored after one such step on examples that it trains on.
///
///   adapter       the common one; `budget` is its rank
///   left_adapter  as the client left it, to be scored
recipe methods::per_fedavg_lora() {
  return {.name = "per_fedavg_lora",
          .summary = "an adapter from which one step fits each client",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "adapter", .weight = weight_rule::one},
                     {.name = "left_adapter", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "adapter"}}}},
          .roles = {{.procedure = {"common_meta_sgd"}}},
          .personal = true,
          .defaults = {{"budget", 8},
                       {"inner_rate", 1e-3},
                       {"first_order", 0},
                       {"three_batches", 0},
                       {"printed_schedule", 0},
                       {"convolution", 0},
                       {"adapter_bias", 0},
                       {"init_scale", 1},
                       {"normal_start", 0}}};
}

} // namespace troupe::policies
