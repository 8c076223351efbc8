// HETLoRA as CoMiGS is compared with it: what is beside attention is a block of
// its own, whole at each client, and merged by a plain mean.

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/support/every_language_method.hpp"
#include "tests/support/routed_federation.hpp"

namespace troupe::test::plain_attention_test {

namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::SizeIs;

/// The first client has one rank, and the last has two, of which it may give
/// one up; beside attention all have three. Each visit is one plain step.
routed_setting setting(double penalty, bool is_plain = true) {
  auto x = routed_setting_of("hetlora", {{"adapted", 1},
                                         {"attention_rank", is_plain ? 3.0 : 1},
                                         {"plain_attention", is_plain ? 1 : 0},
                                         {"rank_min", 1},
                                         {"rank_first", 1},
                                         {"rank_last", 2},
                                         {"keep_share", 0.5},
                                         {"penalty", penalty}});
  x.how.local_steps = 1;
  x.how.optimiser = models::optimiser_kind::sgd;
  x.how.learning_rate = 0.5;
  x.how.weight_decay = 0;
  return x;
}

std::vector<std::string> blocks_of(const routed_federation& x) {
  std::vector<std::string> names;
  for (const auto& block : x.task().blocks.blocks)
    names.push_back(block.name);
  return names;
}

/// What a client's visit to the heads offers to a block.
floats offered(routed_federation& x, std::uint64_t client,
               const std::string& name) {
  const auto out = x.trainer().train(next_visits(x)[client - 1]);
  EXPECT_TRUE(out) << out.error().context;
  for (const auto& part : out->parts)
    if (part.block == x.task().blocks.find(name)->id)
      return part.delta->copy();
  ADD_FAILURE() << name;
  return {};
}

/// The sizes of what stands in the last rank of each outer factor of attention.
std::vector<double> last_ranks(const routed_federation& x,
                               const floats& attention) {
  std::vector<double> sizes;
  std::size_t at = 0;
  for (const auto& tensor : x.task().blocks.find("attention")->tensors) {
    at += tensor.size();
    const auto row = tensor.size() / static_cast<std::size_t>(tensor.shape[0]);
    double sum = 0;
    for (const auto value : std::span{attention}.subspan(at - row, row))
      sum += std::abs(static_cast<double>(value));
    if (tensor.name.ends_with(".u")) // The inner ones have no slope at first.
      sizes.push_back(sum);
  }
  return sizes;
}

auto are_all_something() {
  return ::testing::AllOf(SizeIs(4), Each(Gt(0.0)));
}

} // namespace

TEST(plain_attention, is_a_block_only_where_it_is_said) {
  EXPECT_THAT(blocks_of(routed_federation{setting(0)}),
              ElementsAre("adapter", "attention"));
  const routed_federation without{setting(0, false)};
  EXPECT_THAT(blocks_of(without), ElementsAre("adapter"));
  // Nothing of the recipe that it is by default knows of it.
  auto bare = setting(0, false);
  bare.method.more = {};
  std::erase_if(bare.method.options, [](const option_spec& x) {
    return x.name == "plain_attention";
  });
  bare.said.erase("plain_attention");
  EXPECT_EQ(without.task().blocks.fingerprint(),
            routed_federation{bare}.task().blocks.fingerprint());
}

TEST(plain_attention, is_merged_by_a_plain_mean) {
  routed_federation x{setting(0)};
  x.round();
  const auto before = x.loop().values("attention").copy();
  std::vector<double> mean(before.size());
  std::vector<double> weights, of_adapters;
  const auto visits = next_visits(x);
  for (const auto& visit : visits) {
    const auto out = x.trainer().train(visit);
    ASSERT_TRUE(out) << out.error().context;
    ASSERT_EQ(out->parts.size(), 2u);
    of_adapters.push_back(out->parts[0].weight);
    weights.push_back(out->parts[1].weight);
    EXPECT_EQ(out->parts[1].rank, 0u) << "it is whole";
    ASSERT_EQ(out->parts[1].delta->size(), before.size());
    for (std::size_t j = 0; j < mean.size(); ++j)
      mean[j] += static_cast<double>((*out->parts[1].delta)[j]) / 3;
  }
  EXPECT_THAT(weights, Each(1.0));
  EXPECT_NE(of_adapters[0], of_adapters[2]) << "these are norms";
  std::vector<invited> cohort;
  for (const auto& visit : visits)
    cohort.push_back({.client = visit.visit.client, .seed = visit.seed});
  ASSERT_TRUE(x.loop().round(cohort));
  for (std::size_t j = 0; j < mean.size(); ++j)
    EXPECT_NEAR(x.loop().values("attention")[j], before[j] + mean[j], 1e-6);
}

TEST(plain_attention, has_its_ranks_at_each_client) {
  routed_federation x{setting(0)};
  for (const std::uint64_t client : {1, 3})
    EXPECT_THAT(last_ranks(x, offered(x, client, "attention")),
                are_all_something())
      << client;
  EXPECT_LT(offered(x, 1, "adapter").size(), offered(x, 3, "adapter").size());
}

// In one step from the same place nothing else tells the one of the other.
TEST(plain_attention, is_not_held_small) {
  routed_federation loose{setting(0)}, held{setting(0.5)};
  loose.round(); // Outer factors begin as zeros, of which a tail has no size.
  held.round();
  ASSERT_EQ(loose.loop().values("adapter"), held.loop().values("adapter"));
  EXPECT_NE(offered(loose, 3, "adapter"), offered(held, 3, "adapter"));
  EXPECT_EQ(offered(loose, 3, "attention"), offered(held, 3, "attention"));
}

TEST(plain_attention, is_not_given_up) {
  auto how = setting(0);
  how.how.weight_decay = 1.9; // So that what there is becomes smaller.
  routed_federation x{how};
  x.round();
  x.round();
  const auto state = x.loop().state({3});
  EXPECT_EQ(state->counters.at("rank"), 1u);
  const auto left = state->blocks.at("left_attention").own_view();
  EXPECT_THAT(last_ranks(x, {left.begin(), left.end()}), are_all_something());
}

} // namespace troupe::test::plain_attention_test
