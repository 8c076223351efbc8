#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Li et al. (2020), "Federated Optimization in Heterogeneous Networks": a
/// local step is w -= eta (g + mu (w - w_t)) with the fetched model as w_t, and
/// stragglers offer the part of the work that they did. `proximal` is mu; the
/// paper's best is 1 on its synthetic data, MNIST and FEMNIST. As in the
/// authors' program, the mean is weighted by examples.
recipe methods::fedprox() {
  return {
    .name = "fedprox",
    .summary = "local SGD held near the fetched model by a proximal term",
    .blocks = {{.name = "model"}, {.name = "model.buffers"}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"proximal_sgd"}}},
    .options = {{.name = "proximal",
                 .says = "how strongly steps are held",
                 .value = 1,
                 .unit = "times the way from the fetched model"}}};
}

} // namespace troupe::policies
