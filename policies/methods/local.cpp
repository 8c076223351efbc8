#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Everybody learns alone: what federation is compared with. The shared model
/// is where all begin; nobody offers, so it keeps its first version.
recipe methods::local() {
  return {.name = "local",
          .summary = "everybody trains a model alone; nothing is merged",
          .blocks = {{.name = "model"},
                     {.name = "own_model", .where = scope::personal},
                     {.name = "own_model.buffers", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}}}},
          .roles = {{.procedure = {"own_sgd"}}},
          .personal = true,
          .offers = false};
}

} // namespace troupe::policies
