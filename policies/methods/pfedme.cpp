#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Dinh et al. (2020), "Personalized Federated Learning with Moreau Envelopes":
/// the shared model moves by learning_rate * lambda times its way to the
/// client's own, which solves a regularised problem on each batch by
/// `inner_steps` steps. The paper's beta is `server_learning_rate`. In the
/// paper all clients train and some are merged; here those who are asked do
/// both.
recipe methods::pfedme() {
  return {
    .name = "pfedme",
    .summary = "a personal model, and a shared one drawn towards all",
    .blocks = {{.name = "model", .weight = weight_rule::one},
               {.name = "own_model", .where = scope::personal},
               {.name = "own_model.buffers", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "model"}}}},
    .roles = {{.procedure = {"envelope_sgd"}}},
    .personal = true,
    .defaults = {{"lambda", 15}, {"inner_rate", 0.01}, {"inner_steps", 5}}};
}

} // namespace troupe::policies
