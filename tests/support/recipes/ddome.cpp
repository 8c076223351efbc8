#include <algorithm>
#include <cmath>

#include "tests/support/recipes/skeleton.hpp"

namespace troupe::test {

namespace {

// The sum of the gate's scores over a client's rows: each client likes some
// experts.
double score(const models::visit_input& x, const value_view& gate,
             std::size_t expert) {
  const auto taste = static_cast<double>(x.visit.client.value * 5 + expert * 3);
  return static_cast<double>(gate[expert]) + std::sin(taste);
}

models::choice top_of_gate(const models::visit_input& x,
                           const models::layout& blocks) {
  const auto experts = blocks.family("expert");
  const auto& gate = *x.find(blocks.family("gate").front())->values;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < experts.size(); ++i)
    order.push_back(i);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return score(x, gate, a) > score(x, gate, b);
  });
  order.resize(ddome_wanted);
  models::choice result;
  for (const auto i : order) {
    result.chosen.push_back(experts[i]);
    result.disclosures["request"].push_back(static_cast<double>(i));
  }
  return result;
}

} // namespace

/// A gate for all and M experts. Anchors, one per expert, train theirs alone; a
/// common client asks for the K experts that its gate scores highest.
sim_method ddome_skeleton() {
  recipe what{.name = "ddome",
              .summary = "a gate, then the experts that it chooses",
              .blocks = {{.name = "common", .where = scope::frozen},
                         {.name = "gate"},
                         {.name = "expert",
                          .where = scope::expert,
                          .count = ddome_anchors}},
              .legs = {{.fetch = {{"gate"}}, .choice = {"top_of_gate"}},
                       {.fetch = {{.family = "expert",
                                   .chosen = true,
                                   .chosen_max = ddome_wanted}}}},
              .roles = {{.name = "anchor",
                         .quota = 2,
                         .procedure = {"apart"},
                         .choice_fixed = true,
                         .members = ddome_anchors},
                        {.name = "common", .procedure = {"jointly"}}},
              .disclosures = {{.name = "request",
                               .count_max = ddome_wanted,
                               .min = 0,
                               .max = ddome_anchors - 1,
                               .chosen_of = "expert"}}};
  return {
    .what = std::move(what),
    .shapes = {{"gate", vector_of(ddome_anchors)}, {"expert", vector_of(3)}},
    .make_trainer =
      played({.choose = top_of_gate, .share_of = {}, .step = {}, .keep = {}})};
}

} // namespace troupe::test
