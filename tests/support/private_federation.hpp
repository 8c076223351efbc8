#pragma once

// Clients of a language model who keep something to themselves beside what they
// offer: of each method that has such, also with the options by which something
// else stays, with experts of unequal number, with noisy gates, and of the two
// methods of published language models over Llama's shape, too.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/adapters/adapters.hpp"
#include "models/inner_setup.hpp"
#include "tests/support/adapter_site.hpp"
#include "tests/support/every_language_method.hpp"
#include "tests/support/labelled_scene.hpp"

namespace troupe::test {

struct private_case {
  std::string name;
  std::string method;
  options said = {};
  std::vector<std::uint32_t> experts = {}; ///< Of clients; none: two each.
  std::string_view config = tiny_gpt2;

  friend std::ostream& operator<<(std::ostream& to, const private_case& x) {
    return to << x.name;
  }
};

/// Blocks that are no copy of what was offered, or moments. FlexLoRA's clients
/// keep neither: its version's ranks are those of no version before it.
inline bool keeps_its_own(const recipe& x) {
  if (!x.offers || !learns_language(x))
    return false;
  if (models::has_adapters(x))
    return x.name != "flexlora";
  return x.personal && std::ranges::any_of(x.blocks, [](const block_spec& y) {
           return y.where == scope::personal;
         });
}

inline std::vector<private_case> private_cases() {
  std::vector<private_case> all;
  for (const auto& x : policies::catalogue()) {
    if (!keeps_its_own(x))
      continue;
    all.push_back({.name = x.name, .method = x.name});
    if (x.name == "comigs" || x.name == "pf2lora")
      all.push_back({.name = x.name + "_llama",
                     .method = x.name,
                     .said = {},
                     .experts = {},
                     .config = tiny_llama});
    std::vector<std::uint32_t> unequal;
    if (models::experts_max(x) >= 4)
      unequal = {1, 2, 4};
    if (!unequal.empty())
      all.push_back({.name = x.name + "_unequal",
                     .method = x.name,
                     .said = {},
                     .experts = unequal});
    if (find_option(x, "gate") != nullptr)
      all.push_back({.name = x.name + "_noisy",
                     .method = x.name,
                     .said = {{"gate", 1}},
                     .experts = unequal});
    for (const std::string option : {"attention", "head"})
      if (find_option(x, option) != nullptr)
        all.push_back({.name = x.name + "_own_" + option,
                       .method = x.name,
                       .said = {{option, 1}}});
  }
  return all;
}

/// Three such clients, and what a loop over them begins with. Who has a head of
/// its own classifies rows; all others foretell tokens.
class private_federation {
public:
  private_federation(const private_case& x, std::uint32_t steps) {
    if (x.said.contains("head")) {
      label(x, steps);
      return;
    }
    auto how = language_setting_of(x.method, x.said);
    how.experts = x.experts;
    how.config = x.config;
    how.how.local_steps = steps;
    texts_ = std::make_unique<routed_federation>(how);
  }

  models::trainer& trainer() {
    return texts_ ? texts_->trainer() : *labelled_->trainer;
  }

  reference_options loop_options() const {
    if (texts_)
      return texts_->loop_options();
    return {.method = labelled_->method,
            .blocks = labelled_->blocks,
            .initial = initial_,
            .server = {},
            .admitted = 3};
  }

private:
  void label(const private_case& x, std::uint32_t steps) {
    auto said = x.said;
    said.insert({{"rank", 2}, {"own_rank", 1}, {"inner_rate", 0.05}});
    auto model = labelled_model(tiny_bert, {models::head_kind::classes, 3},
                                classified_rows(), {.trained = false});
    const models::inner_plans plans = **models::inner_plans_for(
      *policies::find_recipe(x.method), *model, said, {});
    models::training_options how;
    how.local_steps = steps;
    how.batch_size = 0;
    how.learning_rate = 0.05;
    const std::vector<std::vector<std::uint32_t>> rows{{0, 1}, {1, 2}, {0, 2}};
    initial_["adapter"] = share(models::initial_adapter(*plans.adapter, 1));
    labelled_ = std::make_unique<adapter_site>(
      site_options{.method = x.method,
                   .how = how,
                   .said = said,
                   .model = std::move(model),
                   .clients = {.train = rows, .test = rows},
                   .common = plans.adapter,
                   .own = plans.own_adapter});
  }

  std::unique_ptr<routed_federation> texts_;
  std::unique_ptr<adapter_site> labelled_;
  std::map<std::string, shared_values> initial_; ///< Of labelled rows.
};

} // namespace troupe::test
