// What nobody trains, where another host says what it is.

#include "node/task/frozen.hpp"

#include <gtest/gtest.h>

#include "models/embedder.hpp"

namespace troupe::node {

namespace {

workload over_a_common_model() {
  workload w;
  w.method.name = "gated";
  w.method.blocks = {{.name = "common", .where = scope::frozen},
                     {.name = "base", .where = scope::frozen},
                     {.name = "gate"}};
  w.method.legs = {{.fetch = {{.family = "common"}, {.family = "gate"}}}};
  const models::tensor_list two{{"w", {2}}};
  auto blocks = models::make_layout(
    w.method, {{"common", two}, {"base", two}, {"gate", two}},
    {.weight_max = 1, .delta_max = 1});
  EXPECT_TRUE(blocks) << blocks.error().context;
  auto task = std::make_shared<models::local_task>();
  task->method = w.method;
  task->frozen = {{"common", share({1, 2})}, {"base", share({3, 4})}};
  task->embedded = std::make_shared<models::embedding_table>();
  models::set_content(*blocks, task->frozen);
  task->blocks = *blocks;
  w.blocks = std::make_shared<const models::layout>(*blocks);
  w.task = std::move(task);
  w.trainers_of = [](std::shared_ptr<const models::local_task>) {
    return models::trainer_factory{};
  };
  return w;
}

} // namespace

// In one process there is one copy of them.
TEST(set_frozen, takes_the_very_values_that_it_is_given) {
  auto work = over_a_common_model();
  const auto before = work.task;
  const auto other = share({5, 6});
  set_frozen(work, "common", other);
  EXPECT_TRUE(work.task->frozen.at("common") == other);
  EXPECT_TRUE(work.task->frozen.at("base") == before->frozen.at("base"));
  EXPECT_EQ(before->frozen.at("common").copy(), (std::vector<float>{1, 2}))
    << "whoever has the task of before has its values";
}

TEST(set_frozen, of_other_values_makes_another_layout) {
  auto work = over_a_common_model();
  const auto print = work.blocks->fingerprint();
  set_frozen(work, "common", share({5, 6}));
  EXPECT_NE(work.blocks->fingerprint(), print);
  EXPECT_EQ(work.task->blocks.fingerprint(), work.blocks->fingerprint());
  EXPECT_EQ(work.blocks->frozen.front().content,
            frozen_digests(work).at("common"));
  set_frozen(work, "common", share({1, 2}));
  EXPECT_EQ(work.blocks->fingerprint(), print);
}

// No leg names it.
TEST(set_frozen, leaves_a_layout_that_does_not_name_the_block) {
  auto work = over_a_common_model();
  const auto print = work.blocks->fingerprint();
  set_frozen(work, "base", share({5, 6}));
  EXPECT_EQ(work.blocks->fingerprint(), print);
}

TEST(set_frozen, forgets_what_was_seen_through_the_values_before) {
  auto work = over_a_common_model();
  const auto before = work.task->embedded;
  std::vector<float> seen(1);
  const std::vector<std::uint32_t> rows{0};
  const auto made =
    before->take(models::split::train, rows, 1, seen,
                 [](std::uint32_t, std::span<float> out) -> result<void> {
                   out[0] = 9;
                   return {};
                 });
  ASSERT_TRUE(made) << made.error().context;
  ASSERT_EQ(before->kept(), 1u);
  set_frozen(work, "common", share({5, 6}));
  ASSERT_TRUE(work.task->embedded);
  EXPECT_EQ(work.task->embedded->kept(), 0u)
    << "rows are as another model saw them";
}

} // namespace troupe::node
