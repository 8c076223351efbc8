#include "policies/methods/common_options.hpp"
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
    .options = share_of_layers()};
}

} // namespace troupe::policies
