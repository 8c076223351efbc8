#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Wagner et al. (2024), "Personalized Collaborative Fine-Tuning for On-Device
/// Large Language Models", by validation performance: each client has a line of
/// its own that everybody fetches. A visit begins with the mean of all lines,
/// by the softmax of minus their perplexities on the client's validation rows,
/// trains that and puts it into the client's line. So what is fetched grows
/// with the number of clients.
///
///   model_of  an adapter for each client, which it alone offers to
///   adapter   as the client left it, to be scored
recipe methods::pcl() {
  return {
    .name = "pcl",
    .summary = "an adapter of each client, mixed by what its rows say of each",
    .blocks = {{.name = "model", .where = scope::frozen},
               {.name = "model_of",
                .where = scope::expert,
                .count = 16,
                .merge = {.kind = merge_kind::replace},
                .weight = weight_rule::one,
                .count_option = "lines"},
               {.name = "adapter", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "model_of"}},
              .choice = {"own_line"}}},
    .roles = {{.procedure = {"line_sgd"}}},
    .personal = true,
    .options = joined(
      over_frozen_model(16, ranks, adapted_layers::blocks),
      {{.name = "lines",
        .says = "how many clients have one; a run has as many as it has "
                "clients, whatever is said",
        .kind = option_kind::whole,
        .value = 16,
        .range = {.min = 1, .max = 1024},
        .unit = "adapters"},
       {.name = "watched",
        .says = "of its own validation rows a client looks with each line at; "
                "0: all",
        .kind = option_kind::whole,
        .value = 1280,
        .range = {.max = 1e9},
        .unit = "rows, at most"}})};
}

} // namespace troupe::policies
