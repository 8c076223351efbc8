#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// The common expert of DDOME alone, which is what the other methods add to:
/// nobody trains. The shared model only travels down, since a run has a version
/// line; nothing looks at it.
recipe methods::common_expert() {
  return {.name = "common_expert",
          .summary = "the common model as it is; nobody trains anything",
          .blocks = {{.name = "common", .where = scope::frozen},
                     {.name = "common.buffers", .where = scope::frozen},
                     {.name = "model"},
                     {.name = "model.buffers"}},
          .legs = {{.fetch = {{.family = "common"},
                              {.family = "common.buffers"},
                              {.family = "model"},
                              {.family = "model.buffers"}}}},
          .roles = {{.procedure = {"common_alone"}}},
          .offers = false};
}

} // namespace troupe::policies
