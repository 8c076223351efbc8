// Schedules that follow a client's own steps, and batches that are drawn.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "models/local_trainer.hpp"
#include "models/visit/local_loop.hpp"
#include "tests/support/site_by_hand.hpp"

namespace troupe::models::own_steps_test {

namespace {

/// As CoMiGS writes it: from g = 1 on, down to a tenth.
double closed_form(std::uint64_t g, std::uint64_t of, double rate) {
  const auto least = rate / 10;
  const auto part = static_cast<double>(g - 1) / static_cast<double>(of);
  return least
         + (rate - least) * 0.5 * (1 + std::cos(3.14159265358979323846 * part));
}

training_options over_ten_steps() {
  training_options how;
  how.local_steps = 3;
  how.batch_size = 0;
  how.learning_rate = 0.2;
  how.schedule = policies::cosine_schedule{0.1};
  how.own_steps = 10;
  return how;
}

/// One client with f(w) = (w - 3)^2 / 2 under plain averaging.
struct home {
  explicit home(const training_options& how) {
    const auto problem = test::bowl_around_three(1);
    quadratic model{problem};
    auto task = std::make_shared<local_task>();
    task->method = *policies::find_recipe("fedavg");
    task->blocks = make_layout(task->method, shapes_of(model, std::nullopt),
                               {.weight_max = 30})
                     .value();
    block = task->blocks.blocks.front().id;
    task->how = how;
    task->how.method = with_defaults(task->method, {});
    task->clients = partition_of(*problem);
    trainer = make_local_trainer(task, std::make_unique<quadratic>(problem),
                                 kernels::make_backend({}).value())
                .value();
  }

  trained visit(float from, double progress,
                std::shared_ptr<const client_state> state) const {
    visit_input x{
      .visit = {{1}, {1}}, .fetched = {}, .chosen = {}, .state = {}};
    x.progress = progress;
    x.state = std::move(state);
    x.fetched.push_back({block, {0}, share(std::vector<float>{from})});
    auto out = trainer->train(x);
    EXPECT_TRUE(out) << (out ? "" : out.error().context);
    return std::move(*out);
  }

  block_id block;
  std::unique_ptr<models::trainer> trainer;
};

/// The fields that rates follow from.
struct problem_parts {
  test::counted_quadratic model{test::bowl_around_three(2), passes};
  std::unique_ptr<kernels::backend> arithmetic =
    kernels::make_backend({}).value();
  recipe method = {};
  layout blocks = {};
  std::vector<std::uint32_t> rows = {0};

  local_problem of(const training_options& how, std::uint64_t before) {
    return {.model = model,
            .arithmetic = *arithmetic,
            .method = method,
            .blocks = blocks,
            .how = how,
            .rate = 0.5,
            .rows = rows,
            .steps_before = before};
  }

  static inline int passes = 0;
};

std::vector<std::uint32_t> drawn(batch_rule rule, std::uint64_t seed,
                                 std::uint32_t batch_size = 64) {
  training_options how;
  how.batches = rule;
  how.batch_size = batch_size;
  const std::vector<std::uint32_t> rows{100, 110, 120, 130};
  batch_sequence from{rows, how, seed};
  std::vector<std::uint32_t> all;
  for (int i = 0; i < 10; ++i) {
    const auto batch = from.next();
    EXPECT_EQ(batch.size(), batch_size == 0 ? rows.size() : batch_size);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

} // namespace

TEST(own_steps, have_the_rates_of_the_closed_form) {
  problem_parts parts;
  const auto how = over_ten_steps();
  for (const std::uint64_t before : {0, 3, 6})
    for (std::uint64_t ahead = 0; ahead < 4; ++ahead)
      EXPECT_NEAR(rate_at(parts.of(how, before), ahead),
                  closed_form(before + ahead + 1, 10, 0.2), 1e-15);
  EXPECT_NEAR(rate_at(parts.of(how, 25), 0), 0.02, 1e-15) << "and stays there";
  auto by_progress = how;
  by_progress.own_steps = 0;
  EXPECT_EQ(rate_at(parts.of(by_progress, 3), 2), 0.5);
}

// A quarter of it, a half, three quarters, all; then a cosine over six steps.
TEST(own_steps, may_begin_with_a_rate_that_rises) {
  problem_parts parts;
  auto how = over_ten_steps();
  how.warmup_steps = 4;
  const auto rate = [&](std::uint64_t g) {
    return rate_at(parts.of(how, g - 1), 0);
  };
  EXPECT_NEAR(rate(1), 0.05, 1e-15);
  EXPECT_NEAR(rate(2), 0.1, 1e-15);
  EXPECT_NEAR(rate(3), 0.15, 1e-15);
  EXPECT_NEAR(rate(4), 0.2, 1e-15);
  EXPECT_NEAR(rate(5), 0.2, 1e-15);
  EXPECT_NEAR(rate(8), 0.11, 1e-15) << "half way from 0.2 to 0.02";
  EXPECT_NEAR(rate(11), 0.02, 1e-15);
  EXPECT_NEAR(rate(30), 0.02, 1e-15);
}

TEST(own_steps, count_on_over_a_clients_visits) {
  const home at{over_ten_steps()};
  double w = 1;
  std::shared_ptr<const client_state> state;
  std::uint64_t g = 0;
  for (const double progress : {0.9, 0.1, 0.5}) { // Which counts for nothing.
    const auto from = static_cast<float>(w);
    const auto out = at.visit(from, progress, state);
    w = from;
    for (int i = 0; i < 3; ++i)
      w -= closed_form(++g, 10, 0.2) * (w - 3);
    EXPECT_NEAR(from + test::delta_of(out, at.block.value), w, 2e-6);
    EXPECT_EQ(out.next.counters.at(own_steps_counter), g);
    state = std::make_shared<const client_state>(out.next);
  }
}

TEST(own_steps, are_counted_where_a_schedule_follows_them_alone) {
  auto how = over_ten_steps();
  how.own_steps = 0;
  const home at{how};
  const auto out = at.visit(1, 0.5, nullptr);
  EXPECT_TRUE(out.next.counters.empty());
}

TEST(own_steps, go_on_with_a_moment_that_is_kept) {
  problem_parts parts;
  auto how = over_ten_steps();
  how.optimiser = optimiser_kind::adamw;
  aligned_floats weights(2), gradient(2);
  client_state kept;
  const auto next = [&](optimiser& by) {
    return std::get<kernels::adamw_call>(
             by.next(array{weights}, array{gradient}))
      .how;
  };
  {
    const auto on = parts.of(how, 0);
    optimiser by{on, 2, nullptr, "experts"};
    EXPECT_FLOAT_EQ(next(by).rate, static_cast<float>(closed_form(1, 10, 0.2)));
    EXPECT_FLOAT_EQ(next(by).rate, static_cast<float>(closed_form(2, 10, 0.2)));
    by.keep(kept);
  }
  const auto on = parts.of(how, 2);
  optimiser by{on, 2, &kept, "experts"};
  const auto third = next(by);
  EXPECT_EQ(third.count, 3u);
  EXPECT_FLOAT_EQ(third.rate, static_cast<float>(closed_form(3, 10, 0.2)));
}

TEST(drawn_batches, are_rows_with_replacement_and_as_many_as_asked_for) {
  const auto all = drawn(batch_rule::drawn, 1);
  EXPECT_EQ(std::set<std::uint32_t>(all.begin(), all.end()),
            (std::set<std::uint32_t>{100, 110, 120, 130}));
  EXPECT_EQ(drawn(batch_rule::drawn, 1), all);
  EXPECT_NE(drawn(batch_rule::drawn, 2), all);
  drawn(batch_rule::drawn, 1, 0); // All: as many as there are.
}

TEST(drawn_batches, are_of_any_place_from_the_first_to_the_last) {
  const auto all = drawn(batch_rule::anywhere, 1);
  const std::set<std::uint32_t> seen(all.begin(), all.end());
  EXPECT_EQ(seen.size(), 31u) << "of 640 draws none is left out";
  EXPECT_EQ(*seen.begin(), 100u);
  EXPECT_EQ(*seen.rbegin(), 130u) << "the last place is one, too";
  EXPECT_EQ(drawn(batch_rule::anywhere, 1), all);
  EXPECT_NE(drawn(batch_rule::anywhere, 2), all);
}

} // namespace troupe::models::own_steps_test
