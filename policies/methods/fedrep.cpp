#include "policies/methods/methods.hpp"

namespace troupe::policies {

namespace {

recipe shared_body(std::string name, std::string summary, double head_passes) {
  return {
    .name = std::move(name),
    .summary = std::move(summary),
    .blocks = {{.name = "body"},
               {.name = "model.buffers"},
               {.name = "head", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "body"}, {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"split_sgd"}}},
    .personal = true,
    .options = {{.name = "head_passes",
                 .says = "of the last layer alone, before the rest learns; 0: "
                         "both learn together",
                 .kind = option_kind::whole,
                 .value = head_passes,
                 .range = {.max = 1e6},
                 .unit = "visits' steps"}}};
}

} // namespace

/// Collins et al. (2021), "Exploiting Shared Representations for Personalized
/// Federated Learning": all but the last layer is merged. A visit first trains
/// the client's own last layer, `head_passes` times as long as it then trains
/// the rest.
recipe methods::fedrep() {
  return shared_body("fedrep", "a shared body, and heads that learn first", 10);
}

/// Arivazhagan et al. (2019), "Federated Learning with Personalization Layers":
/// the same with both parts learning together.
recipe methods::fedper() {
  return shared_body("fedper", "a shared body under heads of clients' own", 0);
}

} // namespace troupe::policies
