// The gradient of a language model, kept with its graph for who differentiates
// it again.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/adapters/head_vectors.hpp"
#include "tests/support/expert_scene.hpp"
#include "tests/support/labelled_scene.hpp"

namespace troupe::models::kept_slopes_test {

namespace {

using test::expect_alike;
using test::largest_of;

const auto& rows = scene_rows;

/// What a model is asked, and by what it computes.
struct way {
  bool of_labels = false;
  bool by_backend = true;
  std::uint32_t chunk = language_config{}.chunk;
};

constexpr way all_ways[] = {
  {false, true}, {false, true, 3}, {false, false}, {true, true}, {true, false}};

std::unique_ptr<objective> model_of(std::string_view config, bool of_labels,
                                    const language_config& how = {}) {
  if (of_labels)
    return test::labelled_model(config, {head_kind::classes, 3},
                                test::classified_rows(), how);
  return make_language_objective(how,
                                 test::base_by_rule(test::tiny_spec(config)),
                                 test::unequal_rows())
    .value();
}

/// Beside all matrices, and where there is a head that says labels, in its
/// place.
adapter_plan plan_over(const tensor_list& base, bool of_labels) {
  auto plan = planned(base, {.rank = 1, .bias = false});
  if (!of_labels)
    return plan;
  const auto head =
    size_of(base) - base.back().size() - base[base.size() - 2].size();
  std::erase_if(plan.matrices,
                [&](const adapted_matrix& x) { return x.at == head; });
  add_head(base, plan);
  return plan;
}

/// Two groups with values that are none of them zero.
struct kept_scene {
  std::unique_ptr<kernels::backend> arithmetic = cpu();
  std::unique_ptr<objective> model;

  kept_scene(std::unique_ptr<objective> x, const way& how)
    : model(std::move(x)) {
    const auto plan = plan_over(groups().base_list(), how.of_labels);
    const auto ok =
      groups().attach({{.name = "adapter", .plan = plan, .scale = 1.5f},
                       {.name = "own_adapter", .plan = plan}},
                      how.by_backend ? arithmetic.get() : nullptr);
    EXPECT_TRUE(ok) << ok.error().context;
    fill(77);
  }

  inner_adapters& groups() {
    return *model->inside();
  }

  void fill(std::uint32_t phase) {
    std::uint32_t i = 0;
    for (auto& x : model->parameters())
      x = static_cast<float>(test::value_by_rule(phase, i++)) / 2;
  }

  floats take() {
    floats found(model->gradient().begin(), model->gradient().end());
    std::ranges::fill(model->gradient(), 0.f);
    return found;
  }

  floats descend() {
    const auto loss = model->backward(rows, 1);
    EXPECT_TRUE(loss) << loss.error().context;
    return take();
  }

  kept_loss keep(const std::vector<std::uint32_t>& of = rows) {
    auto found = model->backward_and_keep(of, 1);
    EXPECT_TRUE(found) << found.error().context;
    return found ? std::move(*found) : kept_loss{};
  }

  floats curve(const floats& direction) {
    const auto done = model->curve(rows, 1, direction);
    EXPECT_TRUE(done) << done.error().context;
    return take();
  }

  /// Of what is kept, when others have been live.
  floats curve_late(const floats& direction) {
    const auto found = keep();
    EXPECT_TRUE(found.gradient);
    take();
    fill(78);
    descend();
    if (!found.gradient)
      return {};
    const auto done = found.gradient->curve(direction);
    EXPECT_TRUE(done) << done.error().context;
    fill(77);
    return take();
  }
};

/// Calls f(scene) for each architecture and each way.
template <class Function>
void for_all(Function f) {
  for (const auto config : test::tiny_models)
    for (const auto& how : all_ways) {
      SCOPED_TRACE(std::string{config} + (how.of_labels ? ", labels" : "")
                   + (how.by_backend ? ", by a backend" : "") + ", by "
                   + std::to_string(how.chunk));
      f(kept_scene{model_of(config, how.of_labels, {.chunk = how.chunk}), how});
    }
}

} // namespace

// By operators that can be differentiated: to the bit they are others.
TEST(kept_slopes, are_those_that_are_not_kept) {
  for_all([](kept_scene x) {
    const auto loss = x.model->backward(rows, 1);
    ASSERT_TRUE(loss) << loss.error().context;
    const auto expected = x.take();
    EXPECT_GT(largest_of(expected), 1e-4);
    const auto found = x.keep();
    EXPECT_NEAR(found.loss, *loss, 1e-6 * *loss);
    expect_alike(x.take(), expected, 1e-5);
  });
}

TEST(kept_slopes, add_to_what_is_there) {
  kept_scene x{model_of(test::tiny_llama, false), {}};
  x.keep();
  auto twice = x.take();
  for (auto& value : twice)
    value *= 2;
  x.keep();
  x.keep();
  EXPECT_EQ(x.take(), twice);
}

TEST(kept_slopes, bend_to_the_bit_as_the_same_rows_do_again) {
  for_all([](kept_scene x) {
    const auto direction = draw(x.model->parameters().size(), 3);
    const auto expected = x.curve(direction);
    EXPECT_GT(largest_of(expected), 1e-4);
    EXPECT_EQ(x.curve_late(direction), expected);
  });
}

// A group by itself is copied, and what uses it twice is added up in another
// order.
TEST(kept_slopes, of_one_group_bend_where_they_were_taken) {
  for_all([](kept_scene x) {
    const auto direction = draw(x.model->parameters().size(), 3);
    x.groups().leave_out(1, true);
    const auto expected = x.curve(direction);
    EXPECT_GT(largest_of(expected), 1e-4);
    expect_alike(x.curve_late(direction), expected, 1e-5);
  });
}

TEST(kept_slopes, bend_alike_whatever_goes_through_the_head_at_once) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const auto bent = [&](std::uint32_t chunk) {
      kept_scene x{model_of(config, false, {.chunk = chunk}), {}};
      return x.curve_late(draw(x.model->parameters().size(), 3));
    };
    const auto expected = bent(256);
    for (const std::uint32_t chunk : {1u, 3u, 10u})
      expect_alike(bent(chunk), expected, 1e-6);
  }
}

TEST(kept_slopes, are_of_one_pass_alone) {
  for (const bool of_labels : {false, true}) {
    const auto scene = [&](std::uint32_t micro_batch) {
      return kept_scene{
        model_of(test::tiny_gpt2, of_labels, {.micro_batch = micro_batch}),
        {.of_labels = of_labels}};
    };
    EXPECT_TRUE(scene(3).keep().gradient);
    auto some = scene(2);
    const auto expected = some.descend();
    EXPECT_FALSE(some.keep().gradient);
    EXPECT_EQ(some.take(), expected);
  }
}

TEST(kept_slopes, are_not_of_what_is_mixed_or_routed_or_learns_nothing) {
  kept_scene x{model_of(test::tiny_gpt2, false), {}};
  EXPECT_TRUE(x.keep().gradient);
  const std::vector<double> shares{0.5, 1.5};
  x.groups().mix(shares);
  EXPECT_FALSE(x.keep().gradient);
  x.groups().mix({});
  EXPECT_TRUE(x.keep().gradient);
  x.groups().switch_on(0, false);
  x.groups().switch_on(1, false);
  EXPECT_FALSE(x.keep().gradient);
  for (const bool even : {false, true}) {
    expert_scene routed{test::tiny_gpt2, {.experts = 2, .even = even}};
    const auto found = routed.model->backward_and_keep(rows, 1);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_FALSE(found->gradient);
  }
  for (const bool of_labels : {false, true}) {
    const auto whole = model_of(test::tiny_gpt2, of_labels, {.trained = true});
    const auto found = whole->backward_and_keep(rows, 1);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_FALSE(found->gradient);
  }
}

TEST(kept_slopes, of_no_target_are_none) {
  kept_scene x{model_of(test::tiny_gpt2, false), {}};
  const auto found = x.keep({3});
  EXPECT_EQ(found.loss, 0);
  EXPECT_FALSE(found.gradient);
  EXPECT_EQ(largest_of(x.take()), 0);
}

} // namespace troupe::models::kept_slopes_test
