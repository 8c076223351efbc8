// A gate and the experts behind it: whom clients ask, what a visit learns, and
// what is refused. Plain loops in double compute it again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/support/plain_gate.hpp"

namespace troupe::test {

namespace {

using models::split;
using ::testing::HasSubstr;

std::string refused(quadratic_setting how) {
  quadratic_federation x{std::move(how)};
  const auto found = x.trainer().train(served(x, 1, 3));
  return found ? "" : found.error().context;
}

} // namespace

// Two thousand rows are looked at in 21 parts.
TEST(top_of_gate, is_of_all_rows_in_any_order) {
  auto how = gated_setting("ddome", crowd(5, 3, 0), 4);
  how.problem.rows_per_client = 2100;
  quadratic_federation testee{how};
  const auto backwards = trainer_after(testee, [](models::local_task& x) {
    for (auto& rows : x.clients.train)
      std::ranges::reverse(rows);
  });
  for (std::uint64_t k = 1; k <= 4; ++k) {
    const auto in = testee.visit(k, 7);
    const auto found = testee.trainer().choose(in);
    ASSERT_TRUE(found) << found.error().context;
    const auto best = best_of(asking(testee.problem(), gate_of(testee, in),
                                     split::train, rows_of(testee, k)),
                              3);
    std::vector<block_id> expected;
    for (const auto m : best)
      expected.push_back(testee.blocks().family("model")[m]);
    EXPECT_EQ(found->chosen, expected) << "best first";
    EXPECT_EQ(found->disclosures.at("request"),
              reals(best.begin(), best.end()));
    const auto again = backwards->choose(in);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->chosen, found->chosen);
    EXPECT_EQ(again->disclosures, found->disclosures);
  }
}

TEST(top_of_gate, asks_the_first_ones_where_all_are_equal_or_nobody_is_there) {
  auto how = gated_setting("ddome", crowd(4, 2, 0));
  how.rows = {10, 0, 10, 10, 10, 10};
  quadratic_federation testee{how};
  auto in = testee.visit(2, 1);
  const auto empty = testee.trainer().choose(in);
  ASSERT_TRUE(empty) << empty.error().context;
  EXPECT_EQ(empty->disclosures.at("request"), (reals{0, 1}));
  in = testee.visit(1, 1);
  give(testee, in, "gate", floats(gate_of(testee, in).values.size()));
  const auto even = testee.trainer().choose(in);
  ASSERT_TRUE(even);
  EXPECT_EQ(even->disclosures.at("request"), (reals{0, 1}));
}

TEST(top_of_gate, at_random_is_drawn_from_the_visits_seed) {
  quadratic_federation testee{
    gated_setting("ddome", crowd(5, 2, 0, {{"request", 1}}))};
  std::set<reals> drawn;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto in = testee.visit(1, seed);
    const auto found = testee.trainer().choose(in);
    ASSERT_TRUE(found);
    EXPECT_EQ(instances_of(testee, found->chosen).size(), 2u);
    EXPECT_EQ(found->disclosures, testee.trainer().choose(in)->disclosures);
    drawn.insert(found->disclosures.at("request"));
  }
  EXPECT_EQ(drawn.size(), 20u) << "ordered pairs of five";
}

TEST(apart, has_two_losses_that_do_not_meet) {
  quadratic_federation testee{gated_setting("ddome", crowd(3, 2, 3))};
  const auto in = served(testee, 2, 11);
  const auto found = testee.trainer().train(in);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->parts.size(), 2u) << "the gate and its own expert";
  EXPECT_TRUE(found->disclosures.empty());
  auto other_gate = in;
  give(testee, other_gate, "gate",
       floats(gate_of(testee, in).values.size(), 0.25f));
  const auto a = testee.trainer().train(other_gate);
  auto other_expert = in;
  give(testee, other_expert, "model.1", floats(width, 3));
  const auto b = testee.trainer().train(other_expert);
  ASSERT_TRUE(a && b);
  const auto delta = [&](const models::trained& x, const char* name) {
    return part_of(testee, x, name)->delta.copy();
  };
  EXPECT_EQ(delta(*a, "model.1"), delta(*found, "model.1"));
  EXPECT_EQ(a->loss, found->loss);
  EXPECT_NE(delta(*a, "gate"), delta(*found, "gate"));
  EXPECT_EQ(delta(*b, "gate"), delta(*found, "gate"));
  EXPECT_NE(delta(*b, "model.1"), delta(*found, "model.1"));
}

// mean(g - onehot), with a softmax that is taken once.
TEST(apart, teaches_the_gate_who_its_rows_are_of) {
  quadratic_federation testee{one_step(gated_setting("ddome", crowd(3, 2, 3)))};
  for (std::uint64_t k = 1; k <= 3; ++k) {
    const auto in = served(testee, k, 11);
    const auto found = testee.trainer().train(in);
    ASSERT_TRUE(found);
    const auto gate = gate_of(testee, in);
    reals mean(3);
    for (const auto row : rows_of(testee, k)) {
      const auto chances = models::softmax(
        gate.logits(seen_of(testee.problem(), split::train, row)));
      for (std::size_t m = 0; m < 3; ++m)
        mean[m] += (chances[m] - (m == k - 1 ? 1 : 0)) / 10;
    }
    const auto& delta = *part_of(testee, *found, "gate")->delta;
    for (std::size_t m = 0; m < 3; ++m)
      EXPECT_NEAR(-delta[gate.output_bias_at() + m], mean[m], 1e-6);
  }
}

TEST(disjoint, lets_the_gate_stand_still_first_and_then_the_experts) {
  quadratic_federation testee{gated_setting(
    "ddome", crowd(3, 2, 3, {{"disjoint", 1}, {"gate_rate", 0.1}}))};
  const auto is_still = [](const offered_block* x) {
    return std::ranges::all_of(*x->delta, [](float v) { return v == 0; });
  };
  for (const std::uint64_t client : {1, 5})
    for (const double progress : {0.0, 0.49, 0.5, 1.0}) {
      SCOPED_TRACE(progress);
      auto in = served(testee, client, 3);
      in.progress = progress;
      const auto found = testee.trainer().train(in);
      ASSERT_TRUE(found);
      EXPECT_EQ(is_still(part_of(testee, *found, "gate")), progress < 0.5);
      EXPECT_EQ(found->parts.size(),
                progress < 0.5 ? 1 + (client == 1 ? 1u : 2u) : 1u);
      EXPECT_GT(found->loss, 0);
    }
}

TEST(gated_visits, in_step_have_the_bits_of_each_alone) {
  const auto setting = [](std::size_t in_step) {
    auto x = gated_setting("ddome", crowd(4, 2, 2, {{"gate_rate", 0.1}}));
    x.in_step = in_step;
    x.how.momentum = 0.9;
    return x;
  };
  quadratic_federation one{setting(1)};
  std::vector<models::visit_input> visits;
  for (std::uint64_t k = 1; k <= 6; ++k)
    visits.push_back(served(one, k, 40 + k));
  for (const std::size_t k : {2, 6}) {
    quadratic_federation several{setting(k)};
    const auto found = several.trainer().train(visits);
    for (std::size_t i = 0; i < visits.size(); ++i) {
      const auto expected = one.trainer().train(visits[i]);
      ASSERT_TRUE(expected && found[i]);
      EXPECT_EQ(found[i]->loss, expected->loss);
      ASSERT_EQ(found[i]->parts.size(), expected->parts.size());
      for (std::size_t p = 0; p < expected->parts.size(); ++p)
        EXPECT_EQ(*found[i]->parts[p].delta, *expected->parts[p].delta);
    }
  }
}

namespace {

class silent final : public models::quadratic {
public:
  using quadratic::quadratic;

  models::model_outputs* outputs() noexcept override {
    return nullptr;
  }
};

} // namespace

TEST(gated_visits, refuse_what_they_cannot_learn_with) {
  const auto common = crowd(3, 2, 0);
  auto how = gated_setting("ddome", common);
  how.how.optimiser = models::optimiser_kind::adamw;
  EXPECT_EQ(refused(how), "method 'ddome' learns by SGD, with momentum or "
                          "without: training.optimiser = \"sgd\" would do");
  how = gated_setting("ddome", common);
  how.make_model = [](auto problem) -> std::unique_ptr<models::objective> {
    return std::make_unique<silent>(problem);
  };
  EXPECT_EQ(refused(how),
            "method 'ddome' mixes what models say, and this kind of model says "
            "nothing; \"regression\", a network or a script does");
  EXPECT_EQ(refused(gated_setting("ddome", crowd(3, 2, 0, {{"mix", 1}}))),
            "method 'ddome' has mix = \"probabilities\", and this kind of "
            "model says numbers; mix = \"logits\" would do");
  how = gated_setting("ddome", crowd(3, 2, 0, {{"gate_rate", 1e6}}));
  how.how.learning_rate = 1e12;
  EXPECT_THAT(refused(how), HasSubstr("block 'gate' diverged"));
}

TEST(gated_visits, refuse_a_gate_of_another_width) {
  quadratic_federation testee{gated_setting("ddome", crowd(3, 2, 0))};
  const auto odd = trainer_after(testee, [](models::local_task& x) {
    for (auto& block : x.blocks.blocks)
      if (block.family == "gate")
        block.size = 36;
  });
  const auto found = odd->choose(testee.visit(1, 1));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_config);
  EXPECT_EQ(found.error().context,
            "block 'gate' has 36 values, and no gate over embeddings of 4 "
            "values has so many for 3 experts; a common model of the same "
            "width would do");
  const auto bare =
    trainer_after(testee, [](models::local_task& x) { x.make_common = {}; });
  const auto nothing = bare->choose(testee.visit(1, 1));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().context,
            "method 'ddome' has a gate, and there is no common model that it "
            "looks at; a frozen block 'common' would do");
}

} // namespace troupe::test
