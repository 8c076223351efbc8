#include "models/visit/visit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "models/tasks/quadratic.hpp"

namespace troupe::models {

namespace {

std::vector<std::uint32_t> rows_up_to(std::uint32_t n) {
  std::vector<std::uint32_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

/// Its third pass fails after it has added something.
class brittle final : public quadratic {
public:
  using quadratic::quadratic;

  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override {
    auto loss = quadratic::backward(rows, seed);
    if (++passes_ == 3)
      return fail(errc::diverged, "the third pass");
    return loss;
  }

private:
  int passes_ = 0;
};

} // namespace

TEST(local_loop, an_epoch_takes_each_row_once_and_ends_with_a_short_batch) {
  const auto rows = rows_up_to(10);
  batch_sequence batches{rows, {.batch_size = 4}, 1};
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<std::uint32_t> seen;
    for (const std::size_t size : {4, 4, 2}) {
      const auto batch = batches.next();
      EXPECT_EQ(batch.size(), size);
      seen.insert(batch.begin(), batch.end());
    }
    EXPECT_EQ(seen.size(), 10u);
  }
}

TEST(local_loop, each_epoch_has_an_order_of_its_own) {
  const auto rows = rows_up_to(50);
  std::set<std::vector<std::uint32_t>> orders;
  batch_sequence batches{rows, {.batch_size = 49}, 1};
  for (int epoch = 0; epoch < 5; ++epoch) {
    const auto batch = batches.next();
    orders.insert({batch.begin(), batch.end()});
    batches.next();
  }
  EXPECT_EQ(orders.size(), 5u);
}

TEST(local_loop, a_batch_that_holds_everything_keeps_the_order) {
  const auto rows = rows_up_to(5);
  for (const std::uint32_t size : {0, 5, 100}) {
    batch_sequence batches{rows, {.batch_size = size}, 1};
    for (int i = 0; i < 3; ++i) {
      const auto batch = batches.next();
      EXPECT_TRUE(std::ranges::equal(batch, rows));
    }
  }
}

TEST(local_loop, steps_follow_from_epochs_unless_they_are_given) {
  training_options how{.local_epochs = 3, .batch_size = 4, .method = {}};
  EXPECT_EQ(plan_visit(how, 10, 1).steps, 9u);
  EXPECT_EQ(plan_visit(how, 3, 1).steps, 3u) << "fewer rows than a batch";
  EXPECT_EQ(plan_visit(how, 0, 1).steps, 0u);
  EXPECT_TRUE(plan_visit(how, 0, 1).idle());
  how.batch_size = 0;
  EXPECT_EQ(plan_visit(how, 10, 1).steps, 3u);
  how.local_steps = 7;
  EXPECT_EQ(plan_visit(how, 10, 1).steps, 7u);
}

TEST(local_loop, stragglers_do_whole_epochs_but_never_all) {
  training_options how{
    .local_epochs = 4, .batch_size = 5, .stragglers = 0.3, .method = {}};
  std::map<std::uint64_t, int> steps;
  int stragglers = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto plan = plan_visit(how, 10, seed);
    stragglers += plan.straggler;
    EXPECT_FALSE(plan.dropped);
    if (plan.straggler)
      ++steps[plan.steps];
    else
      EXPECT_EQ(plan.steps, 8u);
  }
  EXPECT_NEAR(stragglers, 1200, 100);
  ASSERT_EQ(steps.size(), 3u);
  for (const auto& [count, times] : steps) {
    EXPECT_TRUE(count == 2 || count == 4 || count == 6) << count;
    EXPECT_NEAR(times, 400, 80);
  }
}

TEST(local_loop, stragglers_of_one_epoch_do_fewer_steps) {
  training_options how{.batch_size = 5, .stragglers = 1, .method = {}};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto steps = plan_visit(how, 50, seed).steps;
    EXPECT_GE(steps, 1u);
    EXPECT_LE(steps, 9u);
    EXPECT_EQ(plan_visit(how, 3, seed).steps, 1u) << "one step is all it has";
  }
}

TEST(local_loop, only_stragglers_are_dropped) {
  training_options how{.stragglers = 0.5, .drop_stragglers = true};
  int dropped = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto plan = plan_visit(how, 50, seed);
    EXPECT_EQ(plan.dropped, plan.straggler);
    EXPECT_EQ(plan.idle(), plan.dropped);
    dropped += plan.dropped;
  }
  EXPECT_NEAR(dropped, 500, 80);
}

TEST(local_loop, a_visit_that_fails_halfway_leaves_no_gradient_behind) {
  brittle model{make_quadratic_problem({.seed = 3, .rows_per_client = 4})};
  const auto arithmetic = kernels::make_backend({}).value();
  const auto rows = rows_up_to(4);
  const recipe method;
  const layout blocks;
  training_options how;
  how.batch_size = 1;
  how.learning_rate = 0.1;
  local_problem on{.model = model,
                   .arithmetic = *arithmetic,
                   .method = method,
                   .blocks = blocks,
                   .how = how,
                   .rate = how.learning_rate,
                   .rows = rows};
  const auto end = [&] {
    cohort alone;
    visit v{{.visit = {{1}, {1}}, .fetched = {}, .chosen = {}, .state = {}},
            on,
            alone};
    return run_alone(alone, v.descend(4, 1));
  }();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().context, "the third pass");
  for (const float x : model.gradient())
    EXPECT_EQ(x, 0);
}

} // namespace troupe::models
