#include <utility>

#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

namespace {

using methods::joined;
using methods::of_gated;

option_spec count_of_clients(std::string name, std::string says) {
  return {.name = std::move(name),
          .says = std::move(says),
          .kind = option_kind::whole,
          .value = 5,
          .range = {.max = 1024},
          .unit = "clients"};
}

std::vector<option_spec> of_experts() {
  return {
    {.name = "experts",
     .says = "how many there are",
     .kind = option_kind::whole,
     .value = 5,
     .range = {.min = 2, .max = 1024},
     .unit = "models"},
    {.name = "chosen",
     .says = "how many experts a client asks for",
     .kind = option_kind::whole,
     .value = 2,
     .range = {.min = 1, .max = 1024},
     .unit = "models of a client"},
    count_of_clients("anchors", "the first so many train one expert each"),
    count_of_clients("anchors_per_round",
                     "how many anchors are invited at a time")};
}

/// What the published way is compared with.
std::vector<option_spec> of_variants() {
  return {
    {.name = "request",
     .says = "whom clients ask to train: as the gate says, or at random",
     .kind = option_kind::choice,
     .words = {"gate", "random"}},
    {.name = "disjoint",
     .says = "the gate stands still for half of a run, then the experts do",
     .kind = option_kind::flag}};
}

} // namespace

/// DDOME: M experts behind a gate that all train. What a row looks like to the
/// gate is what goes into the last layer of a frozen common model, which
/// everybody has. A common client asks for the K experts that the gate gives
/// most over all of its rows, and trains them with the gate, as one mixture.
/// Anchors, one for each expert and invited more often, train theirs alone, and
/// teach the gate that it is theirs. All is merged by a plain mean of whoever
/// trained it.
///
///   common   what nobody trains, with the statistics that it was saved with
///   gate     two layers over its embeddings
///   model    the experts; `experts` is M, `chosen` K
recipe methods::ddome() {
  return {.name = "ddome",
          .summary = "a gate, and the experts that each client asks for by it",
          .blocks = {{.name = "common", .where = scope::frozen},
                     {.name = "common.buffers", .where = scope::frozen},
                     {.name = "gate"},
                     {.name = "model",
                      .where = scope::expert,
                      .count = 5,
                      .group = "model",
                      .count_option = "experts"},
                     {.name = "model.buffers",
                      .where = scope::expert,
                      .count = 5,
                      .group = "model",
                      .count_option = "experts"}},
          .legs = {{.fetch = {{.family = "common"},
                              {.family = "common.buffers"},
                              {.family = "gate"}},
                    .choice = {"top_of_gate"}},
                   {.fetch = {{.family = "model",
                               .chosen = true,
                               .chosen_max = 2,
                               .chosen_option = "chosen"},
                              {.family = "model.buffers",
                               .chosen = true,
                               .chosen_max = 2,
                               .chosen_option = "chosen"}}}},
          .roles = {{.name = "anchor",
                     .quota = 5,
                     .procedure = {"apart"},
                     .choice_fixed = true,
                     .members = 5,
                     .quota_option = "anchors_per_round",
                     .members_option = "anchors"},
                    {.name = "common", .procedure = {"jointly"}}},
          .disclosures = {{.name = "request",
                           .count_max = 2,
                           .min = 0,
                           .max = 4,
                           .count_option = "chosen",
                           .chosen_of = "model"}},
          .options = joined(joined(of_experts(), of_gated()), of_variants())};
}

} // namespace troupe::policies
