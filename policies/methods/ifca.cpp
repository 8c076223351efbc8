#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Ghosh et al. (2020), "An Efficient Framework for Clustered Federated
/// Learning", with model averaging: C models, each begun from a seed of its
/// own; a client takes the one of least loss on its training examples, trains
/// it and offers it. A model becomes the plain mean of its offers, as
/// published; models nobody chose keep their version.
recipe methods::ifca() {
  return {.name = "ifca",
          .summary =
            "one model per cluster; a client trains the one that fits best",
          .blocks = {{.name = "model",
                      .where = scope::expert,
                      .count = 4,
                      .weight = weight_rule::one,
                      .count_option = "components"},
                     {.name = "model.buffers", .weight = weight_rule::one}},
          .legs = {{.fetch = {{.family = "model"}, {.family = "model.buffers"}},
                    .choice = {"least_loss"}}},
          .roles = {{.procedure = {"chosen_sgd"}}},
          .personal = true,
          .options = {components(4, "models")}};
}

} // namespace troupe::policies
