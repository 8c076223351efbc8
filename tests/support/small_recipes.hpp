#pragma once

// The built-in procedures as the smallest recipes that use them, for tests of a
// room that does not know the catalogue.

#include <string>

#include "core/recipe.hpp"

namespace troupe::test {

/// One shared model; its float buffers in the scope that is given.
inline recipe shared_model(std::string procedure,
                           scope buffers = scope::shared) {
  return {
    .name = procedure + " on a shared model",
    .summary = {},
    .blocks = {{.name = "model"}, {.name = "model.buffers", .where = buffers}},
    .legs = {{.fetch = {{"model"}, {"model.buffers"}}}},
    .roles = {{.procedure = {procedure}}}};
}

/// A shared model and a shared control variate as one version line.
inline recipe controlled_model() {
  return {
    .name = "controlled",
    .summary = {},
    .blocks = {{.name = "model", .group = "all", .weight = weight_rule::one},
               {.name = "control",
                .group = "all",
                .merge = {.kind = merge_kind::sum_over},
                .weight = weight_rule::one},
               {.name = "own_control", .where = scope::personal}},
    .legs = {{.fetch = {{"model"}, {"control"}}}},
    .roles = {{.procedure = {"controlled_sgd"}}},
    .state = state_rule::on_accept};
}

/// A model of the client's own, beside a shared one or without one.
inline recipe own_model(std::string procedure, bool offers) {
  auto result = shared_model(std::move(procedure));
  result.blocks.push_back({.name = "own_model", .where = scope::personal});
  result.blocks.push_back(
    {.name = "own_model.buffers", .where = scope::personal});
  result.offers = offers;
  return result;
}

} // namespace troupe::test
