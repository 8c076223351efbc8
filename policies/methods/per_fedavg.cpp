#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Fallah et al. (2020), "Personalized Federated Learning with Theoretical
/// Guarantees": the shared model is where one step on a client's data ends
/// well. `difference` 0 is the first-order variant; above 0 the one whose
/// Hessians are differences of gradients, so far apart. Clients are scored
/// after a step on examples they train on, never on those they are scored by.
/// The mean over clients is plain, as published.
recipe methods::per_fedavg() {
  return {
    .name = "per_fedavg",
    .summary = "a model from which one step fits each client",
    .blocks = {{.name = "model", .weight = weight_rule::one},
               {.name = "model.buffers", .weight = weight_rule::one}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"meta_sgd"}}},
    .personal = true,
    .options = {{.name = "inner_rate",
                 .says = "learning rate of the step that a model is for",
                 .value = 0.01,
                 .unit = "times the gradient"},
                {.name = "difference",
                 .says = "how far apart the gradients are that stand for the "
                         "Hessian; 0: first order",
                 .unit = "times the slope"}}};
}

} // namespace troupe::policies
