#pragma once

// Three clients with experts or adapters inside a tiny language model, or who
// train all of it, in the plain loop, over next tokens or labelled rows; and a
// model that notes what it is asked.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "models/adapters/factor_halves.hpp"
#include "models/frozen_base.hpp"
#include "models/inner_adapters.hpp"
#include "models/inner_setup.hpp"
#include "models/local_trainer.hpp"
#include "models/shapes.hpp"
#include "models/torch/language/text_objective.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/asked_rows.hpp"
#include "tests/support/reference_loop.hpp"

namespace troupe::test {

/// One question for a gradient.
struct noted_pass {
  std::vector<std::uint32_t> rows;
  std::vector<float> parameters; ///< Before it.
  std::vector<float> before;     ///< The gradient that it found,
  std::vector<float> after;      ///< and what it left.
};

using notes = std::vector<noted_pass>;
using floats = std::vector<float>;

/// A model that notes them.
class noting_model final : public models::objective {
public:
  noting_model(std::unique_ptr<models::objective> x, notes* to)
    : x_(std::move(x)),
      to_(to) {
    // nop
  }

  const models::tensor_list& parameter_list() const noexcept override {
    return x_->parameter_list();
  }

  const models::tensor_list& buffer_list() const noexcept override {
    return x_->buffer_list();
  }

  std::span<float> parameters() noexcept override {
    return x_->parameters();
  }

  std::span<float> gradient() noexcept override {
    return x_->gradient();
  }

  std::span<float> buffers() noexcept override {
    return x_->buffers();
  }

  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override {
    return noted(rows, [&] { return x_->backward(rows, seed); });
  }

  result<models::kept_loss>
  backward_and_keep(std::span<const std::uint32_t> rows,
                    std::uint64_t seed) override {
    return noted(rows, [&] { return x_->backward_and_keep(rows, seed); });
  }

  result<void> curve(std::span<const std::uint32_t> rows, std::uint64_t seed,
                     std::span<const float> direction) override {
    return x_->curve(rows, seed, direction);
  }

  result<models::scores>
  evaluate(models::split part, std::span<const std::uint32_t> rows) override {
    return x_->evaluate(part, rows);
  }

  models::inner_adapters* inside() noexcept override {
    return x_->inside();
  }

  std::vector<float> initial_parameters(std::uint64_t seed) override {
    return x_->initial_parameters(seed);
  }

  std::vector<float> initial_buffers() override {
    return x_->initial_buffers();
  }

private:
  template <class Backward>
  std::invoke_result_t<Backward&> noted(std::span<const std::uint32_t> rows,
                                        Backward backward) {
    noted_pass now{.rows = {rows.begin(), rows.end()},
                   .parameters = copy(parameters()),
                   .before = copy(gradient()),
                   .after = {}};
    auto loss = backward();
    now.after = copy(gradient());
    if (to_ != nullptr)
      to_->push_back(std::move(now));
    return loss;
  }

  static std::vector<float> copy(std::span<const float> x) {
    return {x.begin(), x.end()};
  }

  std::unique_ptr<models::objective> x_;
  notes* to_;
};

struct routed_setting {
  recipe method; ///< Before its options say anything.
  options said = {};
  models::training_options how = {};
  std::vector<std::uint32_t> experts = {};
  std::size_t in_step = 1;
  notes* to = nullptr;  ///< Of all visits.
  bool trained = false; ///< All weights are parameters.
  std::string_view config = tiny_gpt2;
  models::text_task task = models::text_task::language;
};

/// Of a catalogue's method, with a rank that a tiny layer has room for.
inline routed_setting routed_setting_of(const std::string& method,
                                        options said = {}) {
  said.emplace("rank", 2);
  return {.method = *policies::find_recipe(method),
          .said = std::move(said),
          .how = {.local_steps = 4,
                  .batch_size = 3,
                  .optimiser = models::optimiser_kind::adamw,
                  .learning_rate = 0.01,
                  .weight_decay = 0.01,
                  .method = {},
                  .batches = models::batch_rule::drawn}};
}

/// Client k trains on rows 8 (k - 1) to 8 (k - 1) + 4; the next three are for
/// its routers, and to score it.
class routed_federation {
public:
  static constexpr std::size_t clients = 3;
  static constexpr std::uint32_t rows_each = 8;
  static constexpr std::uint32_t rows_to_train = 5;

  explicit routed_federation(const routed_setting& x)
    : base_(x.task == models::text_task::language
              ? base_by_rule(tiny_spec(x.config))
              : base_for(x.task)),
      rows_(rows_for(x.task, clients * rows_each)),
      trained_(x.trained) {
    auto task = task_of(x);
    const auto model = make(nullptr);
    auto plans =
      models::inner_plans_for(task.method, *model, task.how.method, {});
    EXPECT_TRUE(plans) << plans.error().context;
    task.inside = std::move(*plans);
    const auto* inside = task.inside ? &*task.inside : nullptr;
    if (inside != nullptr) {
      task.adapters = inside->adapter;
      task.own_adapters = inside->own_adapter;
      task.frozen = models::frozen_factors(task.method, task.adapters, 1);
    }
    auto blocks = models::make_layout(
      task.method, models::shapes_of(*model, task.adapters, {}, inside), {});
    EXPECT_TRUE(blocks) << blocks.error().context;
    if (const auto* base = model->inside())
      models::note_base(*blocks, base->base_list(), base->base_content());
    task.blocks = *blocks;
    auto initial =
      models::initial_values(*model, *blocks, 1, task.adapters, {}, inside);
    task_ = std::make_shared<const models::local_task>(std::move(task));
    auto trainer =
      models::local_trainers(task_, [this, to = x.to] { return model_for(to); },
                             {.most = x.in_step})();
    EXPECT_TRUE(trainer) << trainer.error().context;
    trainer_ = std::move(*trainer);
    initial_ = std::move(initial);
    loop_ = std::make_unique<reference_loop>(*trainer_, loop_options());
  }

  /// What another loop begins with.
  reference_options loop_options() const {
    return {.method = task_->method,
            .blocks = task_->blocks,
            .initial = initial_,
            .server = {},
            .admitted = clients};
  }

  /// All clients, or those that are named.
  void round(std::vector<std::uint64_t> who = {1, 2, 3}) {
    std::vector<invited> cohort;
    for (const auto client : who)
      cohort.push_back(
        {.client = {client},
         .seed = derive_seed(derive_seed(7, "visit", client), "round", at_)});
    ++at_;
    const auto done = loop_->round(cohort);
    ASSERT_TRUE(done) << done.error().context;
  }

  /// A visit to the heads.
  models::visit_input visit(std::uint64_t client, std::uint64_t seed) const {
    models::visit_input x{.visit = {{client}, {1}},
                          .seed = seed,
                          .fetched = {},
                          .chosen = {},
                          .state = loop_->state({client})};
    for (const auto& block : task_->blocks.blocks)
      x.fetched.push_back(
        {.block = block.id, .base = {0}, .values = head_of(block)});
    return x;
  }

  models::trainer& trainer() {
    return *trainer_;
  }

  reference_loop& loop() {
    return *loop_;
  }

  const models::local_task& task() const {
    return *task_;
  }

  /// A model of the base, with nothing attached.
  std::unique_ptr<models::objective> make(notes* to) const {
    auto plain =
      models::make_text_objective({.trained = trained_}, base_, rows_);
    EXPECT_TRUE(plain) << plain.error().context;
    return std::make_unique<noting_model>(std::move(*plain), to);
  }

private:
  result<std::unique_ptr<models::objective>> model_for(notes* to) const {
    return make(to);
  }

  models::local_task task_of(const routed_setting& x) const {
    auto method = policies::with_options(x.method, x.said);
    EXPECT_TRUE(method) << method.error().context;
    models::local_task task{.method = std::move(*method),
                            .blocks = {},
                            .how = x.how,
                            .clients = {},
                            .test_size = clients * rows_each};
    task.how.method = with_defaults(task.method, x.said);
    task.experts = x.experts;
    for (std::uint32_t k = 0; k < clients; ++k) {
      std::vector<std::uint32_t> train(rows_to_train);
      std::iota(train.begin(), train.end(), k * rows_each);
      std::vector<std::uint32_t> rest(rows_each - rows_to_train);
      std::iota(rest.begin(), rest.end(), k * rows_each + rows_to_train);
      task.clients.train.push_back(std::move(train));
      task.clients.test.push_back(rest);
      task.clients.own_validation.push_back(std::move(rest));
    }
    return task;
  }

  shared_values head_of(const models::block_layout& block) const {
    const auto& versions = loop_->line(block.line);
    const auto& ids = task_->blocks.find(block.line)->blocks;
    const auto place = std::ranges::find(ids, block.id) - ids.begin();
    return versions.back().values[static_cast<std::size_t>(place)];
  }

  std::shared_ptr<const models::language_base> base_;
  std::shared_ptr<const test::listed_rows> rows_;
  bool trained_;
  std::shared_ptr<const models::local_task> task_;
  std::unique_ptr<models::trainer> trainer_;
  std::map<std::string, shared_values> initial_;
  std::unique_ptr<reference_loop> loop_;
  std::uint64_t at_ = 0;
};

/// Whether a pass was over rows that a client trains on.
inline bool is_of_training(const noted_pass& x) {
  return std::ranges::all_of(x.rows, [](std::uint32_t row) {
    return row % routed_federation::rows_each
           < routed_federation::rows_to_train;
  });
}

inline bool is_of_validation(const noted_pass& x) {
  return std::ranges::all_of(x.rows, [](std::uint32_t row) {
    return row % routed_federation::rows_each
           >= routed_federation::rows_to_train;
  });
}

// What of it tests look at.

/// A tiny model's routers: two blocks, of so many experts.
constexpr std::size_t routers_of(std::size_t experts, std::size_t width = 8) {
  return 2 * experts * width;
}

inline floats part(const floats& x, std::size_t from, std::size_t count) {
  const auto first = x.begin() + static_cast<std::ptrdiff_t>(from);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

inline floats experts_of(const floats& x, std::size_t routers) {
  return part(x, 0, x.size() - routers);
}

inline floats routers_in(const floats& x, std::size_t routers) {
  return part(x, x.size() - routers, routers);
}

inline bool is_zero(const floats& x) {
  return std::ranges::all_of(x, [](float v) { return v == 0; });
}

template <class Map>
std::vector<std::string> keys_of(const Map& x) {
  std::vector<std::string> all;
  for (const auto& [key, value] : x)
    all.push_back(key);
  return all;
}

inline floats kept(const models::client_state& x, const std::string& name) {
  const auto found = x.blocks.find(name);
  EXPECT_NE(found, x.blocks.end()) << name;
  if (found == x.blocks.end())
    return {};
  const auto values = found->second.own_view();
  return {values.begin(), values.end()};
}

/// Bursts of two steps after every third.
inline options often(options more = {}) {
  more.insert({{"router_every", 3}, {"router_steps", 2}});
  return more;
}

} // namespace troupe::test
