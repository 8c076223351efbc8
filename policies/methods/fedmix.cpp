#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Reisser et al. (2021), "Federated Mixture of Experts", as DDOME is compared
/// with it: every expert goes to every client, who trains all of them and the
/// gate by one loss; nobody asks, and nobody is an anchor. There are as many
/// experts as a client has, so what travels grows with their number. Its
/// clients answer by all experts at once where nothing else is said.
recipe methods::fedmix() {
  return {.name = "fedmix",
          .summary = "a gate, and all experts for each client",
          .blocks = {{.name = "common", .where = scope::frozen},
                     {.name = "common.buffers", .where = scope::frozen},
                     {.name = "gate"},
                     {.name = "model",
                      .where = scope::expert,
                      .count = 2,
                      .group = "model",
                      .count_option = "experts"},
                     {.name = "model.buffers",
                      .where = scope::expert,
                      .count = 2,
                      .group = "model",
                      .count_option = "experts"}},
          .legs = {{.fetch = {{.family = "common"},
                              {.family = "common.buffers"},
                              {.family = "gate"},
                              {.family = "model"},
                              {.family = "model.buffers"}}}},
          .roles = {{.procedure = {"jointly"}}},
          .options =
            methods::joined({{.name = "experts",
                              .says = "how many each client trains and uses",
                              .kind = option_kind::whole,
                              .value = 2,
                              .range = {.min = 2, .max = 1024},
                              .unit = "models"}},
                            methods::of_gated(1))};
}

} // namespace troupe::policies
