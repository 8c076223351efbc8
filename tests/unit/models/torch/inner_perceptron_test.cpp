// Factors inside linear layers: what a composed model is, and its slopes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/adapters/adapter_factors.hpp"
#include "models/attached_groups.hpp"
#include "models/inner_adapters.hpp"
#include "models/torch/objective.hpp"
#include "tests/support/small_adapters.hpp"
#include "tests/support/small_data.hpp"

namespace troupe::models::inner_perceptron_test {

namespace {

const std::vector<std::uint32_t> rows{0, 3, 5, 6, 7, 11};

const model_config kinds[] = {{.kind = model_kind::softmax},
                              {.kind = model_kind::mlp, .hidden = {7, 5}}};

void expect_near(std::span<const float> found, std::span<const float> wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  double most = 0;
  for (const auto x : wanted)
    most = std::max(most, std::abs(static_cast<double>(x)));
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], wanted[i], 1e-5 * (1 + most)) << i;
}

floats copy_of(std::span<const float> x) {
  return {x.begin(), x.end()};
}

double largest(std::span<const float> xs) {
  double most = 0;
  for (const auto x : xs)
    most = std::max(most, std::abs(static_cast<double>(x)));
  return most;
}

/// Two adapters of one base: beside its products, and composed into it.
struct scene {
  std::shared_ptr<dataset> data = test::small_dataset();
  std::unique_ptr<kernels::backend> arithmetic = cpu();
  std::unique_ptr<objective> whole;
  std::unique_ptr<objective> testee;
  floats base;
  adapter_plan plan;
  floats first, second;

  explicit scene(const model_config& config, bool biases = true)
    : whole(make_torch_objective(config, data).value()),
      base(whole->initial_parameters(1)),
      plan(planned(whole->parameter_list(), {.rank = 2, .bias = biases})),
      first(half(draw(plan.size(), 2))),
      second(half(draw(plan.size(), 3))) {
    testee = make_inner_objective(config, data, share(floats{base})).value();
    const auto ok =
      inside().attach({{"first", plan}, {"second", plan}}, arithmetic.get());
    EXPECT_TRUE(ok) << ok.error().context;
    std::ranges::copy(first, inside().values_of(0).begin());
    std::ranges::copy(second, inside().values_of(1).begin());
  }

  static floats half(floats xs) {
    for (auto& x : xs)
      x /= 2;
    return xs;
  }

  inner_adapters& inside() {
    return *testee->inside();
  }

  views both() const {
    return {first, second};
  }

  adapter_mixture mixture() {
    return {plan, *arithmetic};
  }

  void compose(std::span<const double> parts) {
    EXPECT_TRUE(mixture().compose(base, both(), parts, whole->parameters()));
  }
};

} // namespace

TEST(inner_perceptron, is_what_a_composed_model_is) {
  for (const auto& config : kinds) {
    SCOPED_TRACE(name_of(config.kind));
    scene x{config};
    const std::vector<double> parts{0.25, 1.5};
    x.inside().mix(parts);
    x.compose(parts);
    const auto found = x.testee->backward(rows, 1);
    const auto wanted = x.whole->backward(rows, 1);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_NEAR(*found, *wanted, 1e-5 * *wanted);
    adapter_mixture::slopes slopes;
    ASSERT_TRUE(
      x.mixture().pull_back(x.whole->gradient(), x.both(), parts, slopes));
    EXPECT_GT(largest(slopes.adapters[0]), 0.01);
    const auto of_parts = x.inside().share_slopes();
    for (std::size_t c = 0; c < 2; ++c) {
      expect_near(x.inside().gradient_of(c), slopes.adapters[c]);
      EXPECT_NEAR(of_parts[c], slopes.shares[c],
                  1e-5 * (1 + std::abs(slopes.shares[c])));
    }
    const auto ours = x.testee->evaluate(split::test, rows);
    const auto theirs = x.whole->evaluate(split::test, rows);
    EXPECT_NEAR(ours->mean_loss(), theirs->mean_loss(), 1e-5);
    EXPECT_EQ(ours->correct, theirs->correct);
  }
}

TEST(inner_perceptron, curves_as_three_steps_of_a_composed_model_do) {
  for (const auto& config : kinds) {
    SCOPED_TRACE(name_of(config.kind));
    scene x{config, false};
    const auto along = draw(x.plan.size(), 4);
    const std::vector<double> one{1, 1};
    floats change(x.base.size());
    x.compose(one);
    ASSERT_TRUE(push_forward({x.plan, x.first}, along, *x.arithmetic, change));
    ASSERT_TRUE(x.whole->curve(rows, 1, change));
    adapter_mixture::slopes wanted;
    ASSERT_TRUE(
      x.mixture().pull_back(x.whole->gradient(), x.both(), one, wanted));
    auto direction = along;
    direction.resize(2 * x.plan.size());
    ASSERT_TRUE(x.testee->curve(rows, 1, direction));
    EXPECT_GT(largest(wanted.adapters[1]), 0.01);
    expect_near(x.inside().gradient_of(1), wanted.adapters[1]);
  }
}

TEST(inner_perceptron, learns_a_base_that_is_a_group) {
  for (const auto& config : kinds) {
    SCOPED_TRACE(name_of(config.kind));
    scene x{config};
    x.testee =
      make_inner_objective(config, x.data, share(floats(x.base.size())))
        .value();
    ASSERT_TRUE(x.inside().attach(
      {whole_base("model", x.inside().base_list()), {"first", x.plan}},
      x.arithmetic.get()));
    std::ranges::copy(x.base, x.inside().values_of(0).begin());
    std::ranges::copy(x.first, x.inside().values_of(1).begin());
    // The first is no share of the base, which counts one.
    const std::vector<double> shares{0.5, 0.25}, parts{0.25, 0};
    x.inside().mix(shares);
    x.compose(parts);
    const auto found = x.testee->backward(rows, 1);
    const auto wanted = x.whole->backward(rows, 1);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_NEAR(*found, *wanted, 1e-5 * *wanted);
    expect_near(x.inside().gradient_of(0), x.whole->gradient());
    EXPECT_EQ(x.inside().share_slopes()[0], 0);
  }
}

TEST(inner_perceptron, has_groups_that_are_off_count_and_do_not_learn) {
  for (const auto& config : kinds) {
    SCOPED_TRACE(name_of(config.kind));
    scene x{config};
    const auto loss = x.testee->backward(rows, 1);
    ASSERT_TRUE(loss) << loss.error().context;
    const auto of_second = copy_of(x.inside().gradient_of(1));
    std::ranges::fill(x.testee->gradient(), 0.f);
    x.inside().switch_on(0, false);
    EXPECT_EQ(*x.testee->backward(rows, 1), *loss);
    EXPECT_EQ(largest(x.inside().gradient_of(0)), 0);
    expect_near(x.inside().gradient_of(1), of_second);
    std::ranges::fill(x.testee->gradient(), 0.f);
    x.inside().switch_on(1, false);
    EXPECT_EQ(*x.testee->backward(rows, 1), *loss) << "and nobody learns";
    EXPECT_EQ(largest(x.testee->gradient()), 0);
    x.inside().leave_out(0, true);
    EXPECT_NE(*x.testee->backward(rows, 1), *loss);
  }
}

TEST(inner_perceptron, is_refused_where_factors_cannot_stand) {
  const auto data = test::small_dataset({.shape = {1, 28, 28}});
  const auto refusal = [&](const model_config& how, std::size_t size) {
    const auto made = make_inner_objective(how, data, share(floats(size)));
    return made ? std::string{} : made.error().context;
  };
  for (const auto kind :
       {model_kind::cnn, model_kind::lenet, model_kind::vgg8,
        model_kind::resnet18, model_kind::resnet34, model_kind::torchscript})
    EXPECT_EQ(refusal({.kind = kind}, 1),
              "adapters stand inside linear layers alone, and model.kind '"
                + std::string{name_of(kind)}
                + "' has others; 'mlp' or 'softmax', or model.factors = "
                  "\"composed\", would do");
  EXPECT_EQ(refusal({.kind = model_kind::softmax}, 7),
            "a base of 7 values was given for a model of 2355");
  scene x{kinds[0]};
  EXPECT_EQ(x.inside().route({.experts = 2}).error().context,
            "experts stand in feed-forward blocks of a language model, and "
            "this model has none; a method without experts would do");
  auto other = x.plan;
  other.vectors.front().at += 1;
  EXPECT_EQ(x.inside().attach({{"first", other}}, nullptr).error().context,
            "'first' has a tensor of 3 values at value 13, where this model "
            "has none; a plan over the tensors of this model would do");
}

// Of equal tensors products may count otherwise, by another alpha.
TEST(inner_perceptron, is_attached_anew_where_products_count_otherwise) {
  scene x{kinds[1]};
  const std::vector<inner_group> same{{"first", x.plan}, {"second", x.plan}};
  EXPECT_TRUE(is_attached(x.inside(), same, false));
  EXPECT_FALSE(is_attached(x.inside(), {same.front()}, false));
  auto other = same;
  for (auto& matrix : other.back().plan.matrices)
    matrix.scale *= 2;
  EXPECT_FALSE(is_attached(x.inside(), other, false));
  const auto ok = attach_groups(x.inside(), other, *x.arithmetic);
  ASSERT_TRUE(ok) << ok.error().context;
  EXPECT_TRUE(is_attached(x.inside(), other, false));
  EXPECT_FALSE(is_attached(x.inside(), same, false));
  EXPECT_EQ(largest(x.inside().values_of(0)), 0);
}

} // namespace troupe::models::inner_perceptron_test
