#pragma once

// For laws over all methods of the catalogue that learn a language model: each
// over a tiny one, with batches that are drawn; and those that are published on
// labelled rows over such, too.

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/data/text_task.hpp"
#include "models/families.hpp"
#include "models/shapes.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/routed_federation.hpp"

namespace troupe::test {

/// Whether it learns factors beside the layers of a model that nobody trains,
/// or all weights of one. Several whole models go by outputs, which a language
/// model does not give; and adapters are not composed into weights that learn,
/// as `node/config/check_language.cpp` has it.
inline bool learns_language(const recipe& x) {
  const auto has = [&](scope where) {
    return std::ranges::any_of(
      x.blocks, [&](const block_spec& y) { return y.where == where; });
  };
  if (!models::has_adapters(x))
    return !has(scope::frozen) && !has(scope::expert);
  return std::ranges::any_of(x.blocks, [](const block_spec& y) {
    return y.name == models::model_family && y.where == scope::frozen;
  });
}

/// Those whose visits do something: some only look at what is there.
inline std::vector<std::string> all_language_methods() {
  std::vector<std::string> names;
  for (const auto& x : policies::catalogue())
    if (learns_language(x) && (x.offers || x.personal))
      names.push_back(x.name);
  return names;
}

/// What a law goes over: a method, and what it is asked of its rows.
struct language_case {
  std::string name;
  std::string method;
  models::text_task task = models::text_task::language;
  /// Each client has a layer of its own that says what a row is.
  bool has_own_heads = false;

  friend std::ostream& operator<<(std::ostream& to, const language_case& x) {
    return to << x.name;
  }
};

/// Streams of tokens.
inline std::vector<language_case> stream_cases() {
  std::vector<language_case> all;
  for (const auto& name : all_language_methods())
    all.push_back({.name = name, .method = name});
  return all;
}

/// PF2LoRA and what it is compared with, on what it is published on.
inline std::vector<language_case> labelled_cases() {
  using enum models::text_task;
  std::vector<language_case> all;
  for (const std::string name :
       {"pf2lora", "homlora", "hetlora", "per_fedavg_lora"}) {
    all.push_back({name + "_classifies", name, classify});
    if (find_option(*policies::find_recipe(name), "head") != nullptr)
      all.push_back({name + "_classifies_by_own_heads", name, classify, true});
    all.push_back({name + "_finds_spans", name, span});
    all.push_back({name + "_describes", name, describe});
  }
  return all;
}

/// With ranks that a tiny layer has room for, a line for each client, bursts in
/// each visit, and experts of unequal number. Who trains all weights does so by
/// plain SGD, as some of them must.
inline routed_setting language_setting_of(const std::string& name,
                                          options said = {}) {
  const auto& method = *policies::find_recipe(name);
  const auto say = [&](const std::string& option, double value) {
    if (find_option(method, option) != nullptr)
      said.insert({option, value});
  };
  say("own_rank", 1);
  say("rank_min", 1);
  say("lines", double{routed_federation::clients});
  say("router_every", 3);
  say("router_steps", 2);
  auto x = routed_setting_of(name, said);
  if (models::experts_max(method) >= 4)
    x.experts = {1, 2, 4};
  if (models::has_adapters(method))
    return x;
  x.said = said; // It has no ranks.
  x.trained = true;
  x.how.optimiser = models::optimiser_kind::sgd;
  x.how.weight_decay = 0;
  return x;
}

/// The same, of what a law goes over.
inline routed_setting language_setting_of(const language_case& x,
                                          options said = {}) {
  if (x.has_own_heads)
    said.insert({"head", 1});
  auto how = language_setting_of(x.method, said);
  how.task = x.task;
  return how;
}

/// All clients' next visits, after their choice if they have one.
inline std::vector<models::visit_input> next_visits(routed_federation& x,
                                                    std::uint32_t role = 0) {
  std::vector<models::visit_input> all;
  for (std::uint64_t k = 1; k <= routed_federation::clients; ++k) {
    auto next = x.visit(k, 100 + k);
    next.role = role;
    const auto chosen = x.trainer().choose(next);
    EXPECT_TRUE(chosen) << chosen.error().context;
    next.chosen = chosen->chosen;
    all.push_back(std::move(next));
  }
  return all;
}

} // namespace troupe::test
