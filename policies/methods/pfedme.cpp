#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Dinh et al. (2020), "Personalized Federated Learning with Moreau Envelopes":
/// the shared model moves by learning_rate * lambda times its way to the
/// client's own, which solves a regularised problem on each batch by
/// `inner_steps` steps. The paper's beta is `server_learning_rate`. In the
/// paper all clients train and some are merged; here those who are asked do
/// both.
recipe methods::pfedme() {
  return {.name = "pfedme",
          .summary = "a personal model, and a shared one drawn towards all",
          .blocks = {{.name = "model", .weight = weight_rule::one},
                     {.name = "own_model", .where = scope::personal},
                     {.name = "own_model.buffers", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}}}},
          .roles = {{.procedure = {"envelope_sgd"}}},
          .personal = true,
          .options = {{.name = "lambda",
                       .says = "how strongly a client's own model is held",
                       .value = 15,
                       .unit = "times its way from the shared one"},
                      {.name = "inner_rate",
                       .says = "learning rate of what is a client's own",
                       .value = 0.01,
                       .unit = "times the gradient"},
                      {.name = "inner_steps",
                       .says = "of a client's own model, on each batch",
                       .kind = option_kind::whole,
                       .value = 5,
                       .range = {.min = 1, .max = 1e6},
                       .unit = "steps"}}};
}

} // namespace troupe::policies
