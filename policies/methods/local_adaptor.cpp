#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// FLoRAL's baseline: the base is merged as by FedAvg, and each client has one
/// adapter of low rank of its own, which is trained beside it in the same steps
/// and never sent.
recipe methods::local_adaptor() {
  return {
    .name = "local_adaptor",
    .summary = "a shared base, and an adapter that each client keeps",
    .blocks = {{.name = "model"},
               {.name = "model.buffers"},
               {.name = "own_adapter", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"own_adapter_sgd"}}},
    .personal = true,
    .defaults = {{"budget", 0.01},
                 {"convolution", 5},
                 {"adapter_bias", 1},
                 {"adapter_norm", 0},
                 {"outer_random", 0},
                 {"adapter_rate", 0},
                 {"epsilon", 1e-5}}};
}

} // namespace troupe::policies
