// An objective whose parameters stand inside the layers of a base.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "models/inner_adapters.hpp"
#include "models/torch/language/objective.hpp"
#include "tests/support/listed_rows.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models::inside_test {

namespace {

using row_list = std::vector<std::uint32_t>;
using test::expect_alike;
using test::tiny_spec;

const row_list rows{0, 1, 2};

/// Two groups of rank 1 beside all matrices of a model.
struct attached_scene {
  std::shared_ptr<const language_base> base;
  std::unique_ptr<kernels::backend> arithmetic = cpu();
  std::unique_ptr<objective> model;

  explicit attached_scene(std::string_view config,
                          const language_config& how = {},
                          bool by_backend = true)
    : base(test::base_by_rule(tiny_spec(config))),
      model(make_language_objective(how, base, test::unequal_rows()).value()) {
    const auto plan = planned(base->tensors(), {.rank = 1, .bias = false});
    const auto ok =
      groups().attach({{.name = "general", .plan = plan, .scale = 1.5f},
                       {.name = "special", .plan = plan}},
                      by_backend ? arithmetic.get() : nullptr);
    EXPECT_TRUE(ok) << ok.error().context;
  }

  inner_adapters& groups() {
    return *model->inside();
  }

  /// Values for all factors.
  void fill() {
    std::uint32_t i = 0;
    for (auto& x : model->parameters())
      x = static_cast<float>(test::value_by_rule(77, i++)) / 2;
  }

  double loss() {
    const auto found = model->evaluate(split::train, rows);
    EXPECT_TRUE(found);
    return found ? found->mean_loss() : 0;
  }

  floats descend() {
    std::ranges::fill(model->gradient(), 0.f);
    const auto found = model->backward(rows, 1);
    EXPECT_TRUE(found) << found.error().context;
    return floats(model->gradient().begin(), model->gradient().end());
  }
};

} // namespace

TEST(inside_a_language_model, nothing_is_learned_until_something_is_attached) {
  const auto base = test::base_by_rule(tiny_spec(test::tiny_gpt2));
  const auto x =
    make_language_objective({}, base, test::unequal_rows()).value();
  EXPECT_TRUE(x->parameter_list().empty());
  EXPECT_TRUE(x->parameters().empty());
  EXPECT_TRUE(x->initial_parameters(1).empty());
  const auto loss = x->backward(rows, 1);
  ASSERT_TRUE(loss) << loss.error().context;
  const auto scored = x->evaluate(split::train, rows);
  ASSERT_TRUE(scored);
  EXPECT_NEAR(*loss, scored->mean_loss(), 1e-5);
  EXPECT_TRUE(x->curve(rows, 1, {}));
}

TEST(inside_a_language_model, factors_of_zero_change_no_bit) {
  for (const auto config : test::tiny_models)
    for (const bool by_backend : {true, false}) {
      SCOPED_TRACE(config);
      attached_scene x{config, {}, by_backend};
      const auto bare =
        make_language_objective({}, x.base, test::unequal_rows())
          .value()
          ->evaluate(split::train, rows);
      ASSERT_TRUE(bare);
      const auto first = x.model->initial_parameters(7);
      ASSERT_EQ(first.size(), x.model->parameters().size());
      EXPECT_GT(test::largest_of(first), 0);
      std::ranges::copy(first, x.model->parameters().begin());
      EXPECT_EQ(x.loss(), bare->mean_loss());
      x.fill();
      EXPECT_GT(std::abs(x.loss() - bare->mean_loss()), 1e-4);
      x.groups().leave_out(0, true);
      x.groups().leave_out(1, true);
      EXPECT_EQ(x.loss(), bare->mean_loss());
    }
}

TEST(inside_a_language_model, slopes_are_the_same_in_any_chunks_and_passes) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    attached_scene whole{config};
    whole.fill();
    const auto expected = whole.descend();
    EXPECT_GT(test::largest_of(expected), 1e-4);
    for (const std::uint32_t chunk : {1u, 7u})
      for (const std::uint32_t passes : {1u, 2u}) {
        attached_scene some{config, {.micro_batch = passes, .chunk = chunk}};
        some.fill();
        expect_alike(some.descend(), expected, 1e-6);
      }
  }
}

TEST(inside_a_language_model, what_is_off_stays_as_it_is) {
  attached_scene x{test::tiny_llama};
  x.fill();
  x.descend();
  const auto of = [&](std::size_t group) {
    const auto some = x.groups().gradient_of(group);
    return floats(some.begin(), some.end());
  };
  const auto special = of(1);
  EXPECT_GT(test::largest_of(of(0)), 1e-4);
  x.groups().switch_on(0, false);
  x.descend();
  EXPECT_EQ(test::largest_of(of(0)), 0);
  EXPECT_EQ(of(1), special);
  x.groups().switch_on(1, false);
  EXPECT_EQ(test::largest_of(x.descend()), 0);
  x.groups().switch_on(0, true);
  x.groups().switch_on(1, true);
  x.descend();
  EXPECT_EQ(of(1), special);
}

TEST(inside_a_language_model,
     shares_have_slopes_that_are_what_differences_say) {
  attached_scene x{test::tiny_gpt2, {.micro_batch = 2, .chunk = 2}};
  x.fill();
  std::vector<double> shares{0.5, 1.5};
  x.groups().mix(shares);
  x.descend();
  const auto slopes = x.groups().share_slopes();
  ASSERT_EQ(slopes.size(), 2u);
  constexpr double step = 1. / 64;
  for (std::size_t c = 0; c < 2; ++c) {
    const auto loss_at = [&](double by) {
      auto moved = shares;
      moved[c] += by;
      x.groups().mix(moved);
      return x.loss();
    };
    const auto expected = (loss_at(step) - loss_at(-step)) / (2 * step);
    EXPECT_NEAR(slopes[c], expected, 2e-3 * (1 + std::abs(expected)));
  }
}

TEST(inside_a_language_model, curves_where_a_group_is_on) {
  for (const bool by_backend : {true, false}) {
    attached_scene x{test::tiny_gpt2, {.micro_batch = 2}, by_backend};
    x.fill();
    x.groups().switch_on(0, false);
    const floats begin(x.model->parameters().begin(),
                       x.model->parameters().end());
    const auto size = x.groups().values_of(0).size();
    auto direction = draw(begin.size(), 3);
    // What a group that is off would move by counts for nothing.
    const auto slope_at = [&](float step) {
      for (std::size_t i = size; i < begin.size(); ++i)
        x.model->parameters()[i] = begin[i] + step * direction[i];
      return x.descend();
    };
    constexpr float step = 1.f / 1024;
    const auto above = slope_at(step), below = slope_at(-step);
    slope_at(0);
    std::ranges::fill(x.model->gradient(), 1.f);
    const auto done = x.model->curve(rows, 1, direction);
    ASSERT_TRUE(done) << done.error().context;
    double error = 0, length = 0;
    for (std::size_t i = 0; i < begin.size(); ++i) {
      const auto expected =
        i < size ? 0. : static_cast<double>((above[i] - below[i]) / (2 * step));
      error += std::pow(x.model->gradient()[i] - 1 - expected, 2);
      length += expected * expected;
      if (i < size) {
        ASSERT_EQ(x.model->gradient()[i], 1.f);
      }
    }
    EXPECT_GT(length, 1e-3);
    EXPECT_LT(error, 1e-3 * length);
  }
}

TEST(inside_a_language_model, one_base_serves_all) {
  const auto base = test::base_by_rule(tiny_spec(test::tiny_gpt2));
  const auto bytes = base->bytes();
  const auto alone = base.use_count();
  {
    std::vector<std::unique_ptr<objective>> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(
        make_language_objective({}, base, test::unequal_rows()).value());
      EXPECT_EQ(&all.back()->inside()->base_list(), &base->tensors());
      EXPECT_EQ(all.back()->inside()->base_content(), base->content());
      EXPECT_TRUE(all.back()->evaluate(split::test, rows));
    }
    EXPECT_GE(base.use_count(), alone + 4);
    EXPECT_EQ(base->bytes(), bytes);
  }
  EXPECT_EQ(base.use_count(), alone);
}

} // namespace troupe::models::inside_test
