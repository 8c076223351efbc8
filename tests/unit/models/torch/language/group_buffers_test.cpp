// Adapters inside the layers of tiny models: what a composed model says, and
// its slopes.

#include "models/torch/group_buffers.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "tests/support/small_adapters.hpp"
#include "tests/support/tiny_language.hpp"

namespace troupe::models::group_buffers_test {

namespace {

using test::apart;

std::shared_ptr<const language_base> tiny_base(std::string_view config) {
  const auto spec = test::tiny_spec(config);
  floats values;
  for (const auto& x : test::tensors_by_rule(spec, at::kFloat)) {
    const auto* at = x.data_ptr<float>();
    values.insert(values.end(), at, at + x.numel());
  }
  return make_base(spec, std::move(values));
}

adapter_options of_rank(std::size_t rank,
                        std::vector<std::string> layers = {}) {
  return {.rank = rank, .bias = false, .layers = std::move(layers)};
}

/// What a sum of weighed logits is made of.
at::Tensor said(const language_base& base, model_parts& parts) {
  const auto network = make_language_network(base.spec());
  return test::said_of(*network, parts, {.ids = test::ids_by_rule(2, 6, 13)});
}

at::Tensor weighed(const at::Tensor& x) {
  return (x * at::arange(x.numel(), at::kFloat).sin().reshape(x.sizes())).sum();
}

/// The tensors of flat values, in which a gradient is added.
struct flat_model {
  std::vector<at::Tensor> tensors;

  flat_model(const tensor_list& list, floats& values, floats& gradient) {
    std::size_t at = 0;
    for (const auto& x : list) {
      tensors.push_back(at::from_blob(values.data() + at, x.shape));
      tensors.back().requires_grad_();
      tensors.back().mutable_grad() =
        at::from_blob(gradient.data() + at, x.shape);
      at += x.size();
    }
  }
};

double largest(std::span<const float> xs) {
  double most = 0;
  for (const auto x : xs)
    most = std::max(most, std::abs(static_cast<double>(x)));
  return most;
}

void expect_near(std::span<const float> found, std::span<const float> expected,
                 double by) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], by) << i;
}

/// Two groups of rank 1 beside each matrix of a model, with values.
struct scene {
  std::shared_ptr<const language_base> base;
  adapter_plan plan;
  group_buffers testee;
  std::unique_ptr<kernels::backend> arithmetic = cpu();

  explicit scene(std::string_view config, bool by_backend = true)
    : base(tiny_base(config)),
      plan(planned(base->tensors(), of_rank(1))),
      testee(base) {
    const auto ok = testee.attach({{"first", plan, 1.5f}, {"second", plan}},
                                  by_backend ? arithmetic.get() : nullptr);
    EXPECT_TRUE(ok) << ok.error().context;
    std::uint32_t i = 0;
    for (auto& x : testee.values())
      x = static_cast<float>(test::value_by_rule(77, i++)) / 2;
  }

  at::Tensor say() {
    return said(*base, testee.parts());
  }

  at::Tensor say_without_groups() const {
    frozen_parts bare{base};
    return said(*base, bare);
  }
};

std::string refused(group_buffers& x, std::vector<inner_group> groups) {
  const auto ok = x.attach(std::move(groups), nullptr);
  EXPECT_FALSE(ok);
  EXPECT_EQ(ok ? errc::unsupported : ok.error().code, errc::invalid_config);
  return ok ? "" : ok.error().context;
}

} // namespace

TEST(group_buffers, are_what_a_composed_model_is) {
  for (const auto config : test::tiny_models)
    for (const bool by_backend : {true, false}) {
      SCOPED_TRACE(config);
      scene x{config, by_backend};
      const std::vector<double> weights{0.5, 2};
      x.testee.mix(weights);
      const auto ours = x.say();
      weighed(ours).backward();
      // The same by whole weights.
      adapter_mixture mixture{x.plan, *x.arithmetic};
      const views adapters{x.testee.values_of(0), x.testee.values_of(1)};
      const std::vector<double> shares{0.5 * 1.5, 2};
      floats composed(x.plan.model_size), gradient(x.plan.model_size);
      ASSERT_TRUE(
        mixture.compose(x.base->values(), adapters, shares, composed));
      const flat_model model{x.base->tensors(), composed, gradient};
      const auto parts = parts_of(model.tensors);
      const auto theirs = said(*x.base, *parts);
      weighed(theirs).backward();
      EXPECT_GT(apart(ours, x.say_without_groups()), 0.01);
      EXPECT_LT(apart(ours, theirs),
                1e-5 * (1 + theirs.abs().max().item<double>()));
      adapter_mixture::slopes slopes;
      ASSERT_TRUE(mixture.pull_back(gradient, adapters, shares, slopes));
      // By the largest slope: of a small one single precision keeps less, since
      // both are sums of terms as large as that.
      for (std::size_t c = 0; c < 2; ++c)
        expect_near(x.testee.gradient_of(c), slopes.adapters[c],
                    1e-5 * largest(slopes.adapters[c]));
      const auto along = x.testee.share_slopes();
      ASSERT_EQ(along.size(), 2u);
      const auto steepest = std::max(std::abs(along[0]), std::abs(along[1]));
      EXPECT_NEAR(along[0], 1.5 * slopes.shares[0], 1e-5 * steepest);
      EXPECT_NEAR(along[1], slopes.shares[1], 1e-5 * steepest);
    }
}

TEST(group_buffers, that_begin_change_no_bit) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    scene x{config};
    std::ranges::copy(x.testee.initial(3), x.testee.values().begin());
    EXPECT_GT(largest(x.testee.values()), 0.1);
    const auto plain =
      parts_of(test::tensors_by_rule(x.base->spec(), at::kFloat));
    EXPECT_LT(apart(x.say(), said(*x.base, *plain)), 1e-6);
    EXPECT_TRUE(at::equal(x.say(), x.say_without_groups()));
  }
}

TEST(group_buffers, begin_each_by_its_name) {
  scene x{test::tiny_llama};
  const auto all = x.testee.initial(3);
  const auto first = initial_adapter(x.plan, derive_seed(3, "first"));
  const auto second = initial_adapter(x.plan, derive_seed(3, "second"));
  auto expected = first;
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(all, expected);
  EXPECT_NE(first, second);
}

TEST(group_buffers, that_are_off_count_and_do_not_learn) {
  scene x{test::tiny_llama};
  const auto before = x.say();
  std::ranges::fill(x.testee.gradient_of(0), 7.f);
  x.testee.switch_on(0, false);
  EXPECT_TRUE(x.testee.learns());
  const auto after = x.say();
  EXPECT_EQ(apart(after, before), 0);
  weighed(after).backward();
  EXPECT_EQ(std::ranges::count(x.testee.gradient_of(0), 7.f),
            static_cast<std::ptrdiff_t>(x.plan.size()));
  EXPECT_GT(largest(x.testee.gradient_of(1)), 0.01);
  EXPECT_EQ(x.testee.leaves().size(), x.plan.tensors.size());
  EXPECT_EQ(x.testee.leaves().front().at, x.plan.size());
  x.testee.switch_on(1, false);
  EXPECT_FALSE(x.testee.learns());
  EXPECT_FALSE(x.say().requires_grad());
  // What learned before goes on where its gradient lies.
  x.testee.switch_on(0, true);
  weighed(x.say()).backward();
  EXPECT_LT(std::ranges::count(x.testee.gradient_of(0), 7.f),
            static_cast<std::ptrdiff_t>(x.plan.size()));
}

TEST(group_buffers, that_are_left_out_are_as_if_not_attached) {
  scene x{test::tiny_gpt2};
  const auto both = x.say();
  x.testee.leave_out(1, true);
  group_buffers alone{x.base};
  ASSERT_TRUE(alone.attach({{"first", x.plan, 1.5f}}, x.arithmetic.get()));
  std::ranges::copy(x.testee.values_of(0), alone.values().begin());
  EXPECT_TRUE(at::equal(x.say(), said(*x.base, alone.parts())));
  std::ranges::fill(x.testee.gradient_of(1), 7.f);
  x.testee.leave_out(1, true);
  weighed(x.say()).backward();
  EXPECT_EQ(largest(x.testee.gradient_of(1)), 0);
  EXPECT_EQ(x.testee.leaves().size(), x.plan.tensors.size());
  x.testee.leave_out(0, true);
  EXPECT_FALSE(x.testee.learns());
  EXPECT_TRUE(at::equal(x.say(), x.say_without_groups()));
  x.testee.leave_out(0, false);
  x.testee.leave_out(1, false);
  EXPECT_TRUE(at::equal(x.say(), both));
}

TEST(group_buffers, add_up_slopes_along_shares_until_they_are_read) {
  scene x{test::tiny_llama};
  const auto ones = x.say();
  EXPECT_EQ(x.testee.share_slopes(), (std::vector<double>{0, 0}));
  x.testee.switch_on(0, false);
  x.testee.switch_on(1, false);
  x.testee.mix(std::vector<double>{1, 1});
  EXPECT_TRUE(x.testee.learns()) << "shares do";
  EXPECT_LT(apart(x.say(), ones), 1e-5);
  weighed(x.say()).backward();
  const auto once = x.testee.share_slopes();
  EXPECT_NE(once[0], 0);
  EXPECT_EQ(x.testee.share_slopes(), (std::vector<double>{0, 0}));
  weighed(x.say()).backward();
  x.testee.mix(std::vector<double>{1, 1});
  weighed(x.say()).backward();
  const auto twice = x.testee.share_slopes();
  EXPECT_NEAR(twice[0], 2 * once[0], 1e-5 * (1 + std::abs(once[0])));
  EXPECT_NEAR(twice[1], 2 * once[1], 1e-5 * (1 + std::abs(once[1])));
  EXPECT_EQ(largest(x.testee.slopes()), 0);
  x.testee.mix({});
  EXPECT_FALSE(x.testee.learns());
}

TEST(group_buffers, lie_in_flat_buffers_in_the_order_of_their_lists) {
  scene x{test::tiny_llama};
  const auto n = x.plan.tensors.size();
  const auto& list = x.testee.list();
  ASSERT_EQ(list.size(), 2 * n);
  EXPECT_EQ(list[0].name, "first/" + x.plan.tensors[0].name);
  EXPECT_EQ(list[n].name, "second/" + x.plan.tensors[0].name);
  EXPECT_EQ(list[n].shape, x.plan.tensors[0].shape);
  EXPECT_EQ(x.testee.values().size(), size_of(list));
  EXPECT_EQ(x.testee.slopes().size(), size_of(list));
  const auto leaves = x.testee.leaves();
  ASSERT_EQ(leaves.size(), 2 * n);
  std::size_t at = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_EQ(leaves[i].at, at);
    EXPECT_EQ(leaves[i].values.sizes().vec(), list[i].shape);
    EXPECT_EQ(leaves[i].values.data_ptr<float>(),
              x.testee.values().data() + at);
    at += list[i].size();
  }
  EXPECT_EQ(&x.testee.base_list(), &x.base->tensors());
  EXPECT_EQ(x.testee.base_content(), x.base->content());
}

TEST(group_buffers, begin_anew_elsewhere_where_others_are_attached) {
  scene x{test::tiny_llama};
  const auto* before = x.testee.values().data();
  weighed(x.say()).backward();
  ASSERT_TRUE(x.testee.attach({{"third", x.plan}, {"fourth", x.plan}},
                              x.arithmetic.get()));
  EXPECT_NE(x.testee.values().data(), before);
  EXPECT_EQ(largest(x.testee.values()), 0);
  EXPECT_EQ(largest(x.testee.slopes()), 0);
  EXPECT_TRUE(at::equal(x.say(), x.say_without_groups()));
  ASSERT_TRUE(x.testee.attach({}, nullptr));
  EXPECT_TRUE(x.testee.values().empty());
  EXPECT_FALSE(x.testee.learns());
  EXPECT_FALSE(x.say().requires_grad());
}

TEST(group_buffers, refuse_what_cannot_stand_inside) {
  scene x{test::tiny_gpt2};
  const auto& list = x.base->tensors();
  const std::string model =
    "; a plan over the tensors of " + describe(x.base->spec()) + ", would do";
  auto biased = of_rank(1);
  biased.bias = true;
  EXPECT_EQ(refused(x.testee, {{"adapter", planned(list, biased)}}),
            "'adapter' adapts biases, which adapters inside layers do not; "
            "adapter_bias = 0 would do");
  EXPECT_EQ(
    refused(x.testee,
            {{"adapter", planned(list, of_rank(9, {"attn.c_attn"}))}}),
    "'adapter' has rank 9 for 'transformer.h.0.attn.c_attn.weight', which is "
    "24 x 8; 8 at most would do");
  const tensor_list other{{"fc.weight", {3, 4}}};
  EXPECT_EQ(refused(x.testee, {{"adapter", planned(other, of_rank(1))}}),
            "'adapter' is a plan over 12 values, and this model has "
              + std::to_string(size_of(list)) + model);
  auto moved = planned(list, of_rank(1, {"attn.c_attn"}));
  moved.matrices[0].at = 8;
  EXPECT_EQ(refused(x.testee, {{"adapter", moved}}),
            "'adapter' adapts a layer of 24 x 8 at value 8, where this model "
            "has none"
              + model);
  EXPECT_EQ(refused(x.testee, {{"one", x.plan}, {"one", x.plan}}),
            "'one' is attached twice; a name for each group would do");
  ASSERT_EQ(x.testee.groups().size(), 2u) << "all is as before";
  EXPECT_EQ(x.testee.groups()[0].name, "first");
}

} // namespace troupe::models::group_buffers_test
