#pragma once

#include "core/recipe.hpp"

namespace troupe::test {

/// A recipe with all that the runtime has to carry: a group whose blocks merge
/// by different rules, experts that a choice between two legs routes to, two
/// roles, a disclosure, and personal state.
/// @param asks a visit has two experts at most, and says which
inline recipe two_leg_recipe(state_rule state, bool asks = false) {
  recipe x{
    .name = "two_leg",
    .summary = "a group and three experts, fetched in two legs",
    .blocks = {{.name = "base", .group = "pair"},
               {.name = "tally",
                .group = "pair",
                .merge = {.kind = merge_kind::sum_over},
                .weight = weight_rule::one},
               {.name = "expert", .where = scope::expert, .count = 3},
               {.name = "own", .where = scope::personal}},
    .legs = {{.fetch = {{"base"}, {"tally"}}, .choice = {"pick"}},
             {.fetch = {{"expert", true}}}},
    .roles = {{.name = "anchor",
               .quota = 1,
               .procedure = {"pull"},
               .choice_fixed = true,
               .members = 3},
              {.name = "common", .procedure = {"pull"}}},
    .state = state,
    .disclosures = {{.name = "picked", .count_max = 3, .min = 0, .max = 3}}};
  if (asks) {
    x.legs.back().fetch.front().chosen_max = 2;
    x.disclosures = {{.name = "picked",
                      .count_max = 2,
                      .min = 0,
                      .max = 2,
                      .chosen_of = "expert"}};
  }
  return x;
}

} // namespace troupe::test
