#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Karimireddy et al. (2020), "SCAFFOLD: Stochastic Controlled Averaging for
/// Federated Learning", with option II: a step follows g - c_i + c, then c_i
/// becomes c_i - c + (x - y) / (K eta). The server moves x by the plain mean of
/// the offers and c by their sum over *all* N clients: these two merge together
/// or not at all, and so are one line. The client's c_i must be the one that
/// the server counted, so it becomes current when the offer is accepted.
///
///   control       the server's c, shaped like `model`
///   own_control   the client's c_i
///
/// A module's statistics have no gradients and thus no control variates.
recipe methods::scaffold() {
  const std::string line = "model_and_control";
  return {
    .name = "scaffold",
    .summary = "local SGD with control variates against client drift",
    .blocks = {{.name = "model", .group = line, .weight = weight_rule::one},
               {.name = "control",
                .group = line,
                .merge = {.kind = merge_kind::sum_over},
                .weight = weight_rule::one},
               {.name = "model.buffers", .weight = weight_rule::one},
               {.name = "own_control", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "model"},
                        {.family = "control"},
                        {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"controlled_sgd"}}},
    .state = state_rule::on_accept};
}

} // namespace troupe::policies
