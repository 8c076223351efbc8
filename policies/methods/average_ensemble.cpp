#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// The average ensemble that DDOME is compared with: two runs of FedAvg that
/// begin at different values, or with `init` at the same, and learn from the
/// same clients in other orders; both predict, and the mean of their chances
/// decides. Its cost is twice FedAvg's, in training and ever after.
recipe methods::average_ensemble() {
  return {
    .name = "average_ensemble",
    .summary = "two runs of FedAvg at once, whose chances are averaged",
    .blocks =
      {{.name = "model", .where = scope::expert, .count = 2, .group = "model"},
       {.name = "model.buffers",
        .where = scope::expert,
        .count = 2,
        .group = "model"}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"each"}}}};
}

} // namespace troupe::policies
