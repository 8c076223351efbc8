// What a gate is over a common model, and how experts begin.

#include "models/gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "models/shapes.hpp"
#include "tests/support/plain_gate.hpp"

namespace troupe::test {

namespace {

/// First values by block, as `begin_as_common` makes them of seeds 1 and 2.
struct starts {
  explicit starts(const quadratic_setting& how)
    : testee(how),
      problem(models::make_quadratic_problem(how.problem)),
      experts(problem),
      common(problem),
      parameters(share(common.initial_parameters(2))),
      method(how.method),
      said(how.how.method) {
    for (const auto& block : testee.blocks().blocks)
      initial[block.id] = share(testee.loop().values(block.name).copy());
  }

  result<void> begin(const models::objective& as) {
    return models::begin_as_common(method, said, testee.blocks(), experts, as,
                                   parameters, nullptr, 1, initial);
  }

  result<void> check() const {
    return models::check_starts(method, testee.blocks(), initial);
  }

  quadratic_federation testee;
  std::shared_ptr<const models::quadratic_problem> problem;
  models::quadratic experts;
  models::quadratic common;
  shared_values parameters;
  recipe method;
  options said;
  std::map<block_id, shared_values> initial;
};

options from_common(options more) {
  more["from_common"] = 1;
  return more;
}

} // namespace

// The common model is one for all, so it is anchors or noise that part them.
TEST(gated_starts, as_the_common_model) {
  starts anchored{gated_setting("ddome", crowd(3, 2, 3, from_common({})))};
  ASSERT_TRUE(anchored.begin(anchored.common));
  for (const auto id : anchored.testee.blocks().family("model"))
    EXPECT_EQ(anchored.initial.at(id), anchored.parameters) << "the very same";
  EXPECT_TRUE(anchored.check());
  starts lonely{gated_setting("ddome", crowd(3, 2, 0, from_common({})))};
  ASSERT_TRUE(lonely.begin(lonely.common));
  const auto refused = lonely.check();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_config);
  EXPECT_EQ(refused.error().context,
            "all 3 models of method 'ddome' begin with the same values, and "
            "equal models never part; a kind of model that begins at random, "
            "or 'init' with values for each, would do, or option 'start_noise' "
            "above 0, or anchors");
  starts noisy{gated_setting(
    "ddome", crowd(3, 2, 0, from_common({{"start_noise", 0.01}})))};
  ASSERT_TRUE(noisy.begin(noisy.common));
  EXPECT_TRUE(noisy.check());
  for (const auto id : noisy.testee.blocks().family("model"))
    for (std::size_t j = 0; j < width; ++j)
      EXPECT_NEAR((*noisy.initial.at(id))[j], (*noisy.parameters)[j], 0.05);
  starts own{gated_setting("ddome", crowd(3, 2, 0))};
  const auto before = own.initial;
  ASSERT_TRUE(own.begin(own.common));
  EXPECT_EQ(own.initial, before);
}

TEST(gated_starts, refuse_a_common_model_of_another_shape) {
  starts testee{gated_setting("ddome", crowd(3, 2, 3, from_common({})))};
  const auto before = testee.initial;
  const models::quadratic other{
    models::make_quadratic_problem({.dimension = 6, .clients = 1})};
  const auto refused = testee.begin(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_config);
  EXPECT_EQ(refused.error().context,
            "method 'ddome' has from_common = 1, and the common model has "
            "other tensors than 'model' ('first' of 3 and of 2); "
            "'common_model' as 'model', or from_common = 0, would do");
  EXPECT_EQ(testee.initial, before);
}

TEST(gates, have_the_shape_that_the_common_model_gives) {
  const auto how = gated_setting("ddome", crowd(7, 2, 0, {{"gate_width", 3}}));
  models::quadratic common{models::make_quadratic_problem(how.problem)};
  const auto found = models::gate_for(how.method, how.how.method, &common);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found,
            (kernels::gate_shape{.inputs = 4, .hidden = 3, .experts = 7}));
  const auto tensors = models::tensors_of(**found);
  EXPECT_EQ(tensors, (models::tensor_list{{"hidden.weight", {3, 4}},
                                          {"hidden.bias", {3}},
                                          {"output.weight", {7, 3}},
                                          {"output.bias", {7}}}));
  EXPECT_EQ(models::size_of(tensors), (**found).size());
  const auto plain =
    models::gate_for(*policies::find_recipe("fedavg"), {}, &common);
  ASSERT_TRUE(plain);
  EXPECT_FALSE(*plain) << "it has none";
  const auto none = models::gate_for(how.method, {}, nullptr);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::invalid_config);
  EXPECT_EQ(none.error().context,
            "method 'ddome' looks at what goes into the last layer of its "
            "common model, and this kind has none; a network of the catalogue, "
            "or a script that exports 'embed', would do");
}

TEST(gates, begin_uniform_within_one_over_the_root_of_a_layers_inputs) {
  const kernels::gate_shape shape{.inputs = 100, .hidden = 25, .experts = 5};
  const auto values = models::initial_gate(shape, 3);
  ASSERT_EQ(values.size(), shape.size());
  EXPECT_EQ(values, models::initial_gate(shape, 3));
  EXPECT_NE(values, models::initial_gate(shape, 4));
  const auto most = [&](std::size_t from, std::size_t to) {
    float found = 0;
    for (auto i = from; i < to; ++i)
      found = std::max(found, std::abs(values[i]));
    return found;
  };
  EXPECT_NEAR(most(0, shape.hidden_bias_at()), 0.1, 0.001);
  EXPECT_LE(most(0, shape.output_at()), 0.1f);
  EXPECT_NEAR(most(shape.output_at(), shape.output_bias_at()), 0.2, 0.01);
  EXPECT_LE(most(shape.output_at(), shape.size()), 0.2f);
}

} // namespace troupe::test
