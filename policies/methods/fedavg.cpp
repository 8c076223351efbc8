#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// McMahan et al. (2017), "Communication-Efficient Learning of Deep Networks
/// from Decentralized Data": everybody trains everything, and the mean is
/// weighted by the number of examples, over the offers that arrived. Reddi et
/// al. (2021), "Adaptive Federated Optimization", put the server's optimiser in
/// the place of the mean.
recipe methods::fedavg() {
  return {
    .name = "fedavg",
    .summary = "the mean of everybody's local SGD, weighted by examples",
    .blocks = {{.name = "model"}, {.name = "model.buffers"}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"sgd"}}},
    .server_optimises = true};
}

} // namespace troupe::policies
