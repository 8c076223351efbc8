#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Marfoq et al. (2021), "Federated Multi-Task Learning under a Mixture of
/// Distributions": each example of a client belongs in parts to C models, each
/// client has its own mixture of them, and a visit is one step of expectation
/// and maximisation. All models are merged by n_k, over the clients that were
/// asked; who was not does not count.
recipe methods::fedem() {
  return {.name = "fedem",
          .summary = "examples belong to several models, in parts",
          .blocks = {{.name = "model",
                      .where = scope::expert,
                      .count = 3,
                      .count_option = "components"},
                     {.name = "mixture", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}}}},
          .roles = {{.procedure = {"em_sgd"}}},
          .personal = true,
          .options = {components(3, "models")}};
}

} // namespace troupe::policies
