#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// The base as it came, which all that adapt it are compared with: nobody
/// trains. The adapter only travels down, since a run has a version line;
/// nothing looks at it.
recipe methods::pretrained() {
  return {.name = "pretrained",
          .summary = "the frozen model as it is; nobody trains anything",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "adapter", .weight = weight_rule::one}},
          .legs = {{.fetch = {{.family = "model"}, {.family = "adapter"}}}},
          .roles = {{.procedure = {"base_alone"}}},
          .options = over_frozen_model(1),
          .offers = false};
}

} // namespace troupe::policies
