#pragma once

// Tiny language models with experts inside their feed-forward blocks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/adapters/layer_names.hpp"
#include "models/inner_adapters.hpp"
#include "models/language/names.hpp"
#include "models/torch/language/objective.hpp"
#include "tests/support/listed_rows.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models {

/// Of unequal_rows(), those that have targets.
inline const std::vector<std::uint32_t> scene_rows{0, 1, 2};

/// Names of all layers that are of feed-forward blocks, or are of attention.
inline std::vector<std::string> layers_of(const language_base& x,
                                          bool of_feed_forward) {
  std::vector<std::string> names;
  for (const auto& tensor : x.tensors())
    if (tensor.shape.size() == 2
        && (of_feed_forward ? is_of_feed_forward(x.spec(), tensor.name)
                            : is_of_attention(x.spec(), tensor.name)))
      names.emplace_back(layer_of(tensor.name));
  return names;
}

inline adapter_plan plan_of(const language_base& x, bool of_feed_forward,
                            std::size_t rank = 1) {
  return planned(
    x.tensors(),
    {.rank = rank, .bias = false, .layers = layers_of(x, of_feed_forward)});
}

/// A group of everybody's over attention, and one of each expert.
inline std::vector<inner_group> groups_with(const language_base& base,
                                            std::uint32_t experts) {
  std::vector<inner_group> all{
    {.name = "attention", .plan = plan_of(base, false), .scale = 2}};
  for (std::uint32_t i = 0; i < experts; ++i)
    all.push_back({.name = "expert." + std::to_string(i),
                   .plan = plan_of(base, true),
                   .scale = 1.5f,
                   .expert = i});
  return all;
}

/// A model with these.
struct expert_scene {
  std::shared_ptr<const language_base> base;
  std::unique_ptr<kernels::backend> arithmetic = cpu();
  std::unique_ptr<objective> model;

  explicit expert_scene(std::string_view config, const routing_options& how,
                        const language_config& passes = {},
                        bool by_backend = true)
    : base(test::base_by_rule(test::tiny_spec(config))),
      model(
        make_language_objective(passes, base, test::unequal_rows()).value()) {
    const auto ok = groups().attach(groups_with(*base, how.experts),
                                    by_backend ? arithmetic.get() : nullptr);
    EXPECT_TRUE(ok) << ok.error().context;
    const auto routed = groups().route(how);
    EXPECT_TRUE(routed) << routed.error().context;
  }

  inner_adapters& groups() {
    return *model->inside();
  }

  void begin(std::uint64_t seed = 7) {
    std::ranges::copy(model->initial_parameters(seed),
                      model->parameters().begin());
  }

  /// Values for all factors and routers.
  void fill() {
    std::uint32_t i = 0;
    for (auto& x : model->parameters())
      x = static_cast<float>(test::value_by_rule(77, i++));
  }

  double loss() {
    const auto found = model->evaluate(split::train, scene_rows);
    EXPECT_TRUE(found) << found.error().context;
    return found ? found->mean_loss() : 0;
  }

  double descended = 0;

  floats descend() {
    std::ranges::fill(model->gradient(), 0.f);
    const auto found = model->backward(scene_rows, 1);
    EXPECT_TRUE(found) << found.error().context;
    descended = found.value_or(0);
    return floats(model->gradient().begin(), model->gradient().end());
  }

  std::size_t last() {
    return groups().groups().size() - 1;
  }
};

} // namespace troupe::models
