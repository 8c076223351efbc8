#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Li et al. (2021), "Ditto: Fair and Robust Federated Learning Through
/// Personalization": the shared model learns as in FedAvg, with a plain mean;
/// the client's own model v follows g(v) + lambda (v - w_t), with the fetched
/// model as w_t, over the same batches, and stays with the client. The paper
/// chooses `lambda` from 0.1, 1 and 2.
recipe methods::ditto() {
  return {
    .name = "ditto",
    .summary = "a personal model beside the shared one, held near it",
    .blocks = {{.name = "model", .weight = weight_rule::one},
               {.name = "model.buffers", .weight = weight_rule::one},
               {.name = "own_model", .where = scope::personal},
               {.name = "own_model.buffers", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"two_stage_sgd"}}},
    .personal = true,
    .options = {{.name = "lambda",
                 .says = "how strongly a client's own model is held",
                 .value = 1,
                 .unit = "times its way from the shared one"}}};
}

} // namespace troupe::policies
