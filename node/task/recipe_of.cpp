#include "node/task/recipe_of.hpp"

#include "core/assert.hpp"
#include "node/config/config.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

policies::buffer_policy policy_of(model_options::buffer_rule x) {
  switch (x) {
    case model_options::buffer_rule::local:
      return policies::buffer_policy::local;
    case model_options::buffer_rule::freeze:
      return policies::buffer_policy::freeze;
    case model_options::buffer_rule::average:
      break;
  }
  return policies::buffer_policy::average;
}

/// What is said; and where each client has a line of its own, there are as many
/// as clients.
options options_of(const experiment& x) {
  auto said = x.training.method;
  if (const auto lines = said.find("lines"); lines != said.end())
    lines->second = x.clients.clients;
  return said;
}

} // namespace

result<recipe> recipe_of(const experiment& x) {
  const auto* found = all_methods().find(x.method);
  TROUPE_ASSERT(found); // The configuration was checked.
  const auto& said = x.merge;
  return policies::with_merging(
           policies::with_buffers(*found, policy_of(x.model.buffers)),
           {.rule = said.rule, .is_clipped = said.clip_norm > 0})
    .and_then([&](recipe method) {
      return policies::with_options(std::move(method), options_of(x));
    })
    .and_then([&](recipe method) {
      return policies::with_often(std::move(method), x.clients.often,
                                  x.clients.often_per_round);
    });
}

} // namespace troupe::node
