// Laws of visits that are computed together, over all methods: how many are in
// step changes nothing of what any of them comes to.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/visit/visit.hpp"
#include "tests/support/brittle.hpp"
#include "tests/support/counting_backend.hpp"
#include "tests/support/every_method.hpp"
#include "tests/support/same_visits.hpp"

namespace troupe::test::in_step_test {

namespace {

/// Steps that end early, clients with one batch, and one with no rows at all.
const std::vector<std::size_t> rows{10, 10, 3, 0, 9, 10, 10};

/// Fails at its fifth gradient of the fifth client's rows.
class brittle final : public models::quadratic {
public:
  using quadratic::quadratic;

  result<double> backward(std::span<const std::uint32_t> over,
                          std::uint64_t seed) override {
    if (over.front() / 10 == 4 && ++times_ == 5)
      return fail(errc::diverged, "the fifth gradient");
    return quadratic::backward(over, seed);
  }

private:
  int times_ = 0;
};

quadratic_setting setting_of(const std::string& method, std::size_t in_step) {
  auto x = noisy_setting(method, 3, rows);
  x.in_step = in_step;
  return x;
}

class in_step : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(all, in_step, ::testing::ValuesIn(all_methods()),
                         [](const auto& x) { return x.param; });

} // namespace

TEST_P(in_step, visits_come_to_the_bits_of_each_alone) {
  quadratic_federation one{setting_of(GetParam(), 1)};
  one.rounds(2); // So that clients have something of their own.
  const auto visits = next_visits(one);
  const auto expected = alone(one.trainer(), visits);
  for (const std::size_t k : {1, 2, 7}) {
    SCOPED_TRACE(k);
    quadratic_federation several{setting_of(GetParam(), k)};
    // Twice: what one visit leaves behind is not the next one's.
    for (int times = 0; times < 2; ++times) {
      const auto together = several.trainer().train(visits);
      for (const auto& x : together)
        EXPECT_TRUE(x) << x.error().context;
      expect_same(together, expected);
    }
  }
}

// Optimisers with a memory, visits of unequal length, what comes after.
TEST_P(in_step, whatever_the_options_visits_come_to_the_bits_of_each_alone) {
  using change = void (*)(quadratic_setting&);
  for (const change changed : std::initializer_list<change>{
         [](auto& x) { x.how.momentum = 0.9; },
         [](auto& x) { x.how.optimiser = models::optimiser_kind::adamw; },
         [](auto& x) {
           x.how.stragglers = 0.5;
           x.how.drop_stragglers = true;
         },
         [](auto& x) {
           x.how.norm_max = 0.05;
           x.attackers = {.clients = {{2}}, .scale = -3};
         },
         [](auto& x) { x.how.batch_size = 1; },
         [](auto& x) {
           x.how.batch_size = 0;
           x.how.local_steps = 5;
           x.how.stragglers = 0.6;
         }}) {
    const auto federation = [&](std::size_t k) {
      auto x = setting_of(GetParam(), k);
      changed(x);
      return quadratic_federation{x};
    };
    auto one = federation(1);
    const auto visits = next_visits(one);
    const auto expected = alone(one.trainer(), visits);
    auto seven = federation(7);
    expect_same(seven.trainer().train(visits), expected);
    // One client, several times.
    for (const auto& x : seven.trainer().train(std::vector(4, visits[1])))
      expect_same(x, expected[1]);
    EXPECT_TRUE(
      seven.trainer().train(std::span<const models::visit_input>{}).empty());
  }
}

namespace {

/// How many visits' steps came in each call of the backend, of five in step.
std::vector<std::size_t> calls_of(const std::string& method,
                                  const std::vector<std::size_t>& rows) {
  const auto calls = std::make_shared<std::vector<std::size_t>>();
  auto how = setting_of(method, 5);
  how.rows = rows;
  how.make_arithmetic = [calls] {
    return std::make_unique<counting_backend>(calls);
  };
  quadratic_federation testee{how};
  auto visits = next_visits(testee);
  visits.resize(5);
  for (const auto& x : testee.trainer().train(visits))
    EXPECT_TRUE(x) << x.error().context;
  return *calls;
}

} // namespace

// Who has a device wants one call for all of them, not one for each.
TEST_P(in_step, each_step_of_the_backend_is_one_call_for_all_of_one_shape) {
  const auto calls = calls_of(GetParam(), {8, 8, 8, 8, 8, 8, 8});
  for (const auto together : calls)
    EXPECT_EQ(together, 5u);
  // It moves along slopes of its own, and makes no step of an optimiser.
  EXPECT_EQ(calls.empty(), GetParam() == "per_fedavg");
}

TEST(steps_in_step, are_one_call_of_the_backend_for_those_of_one_shape) {
  const auto calls = calls_of("fedavg", {8, 8, 8, 8, 8, 8, 8});
  EXPECT_EQ(calls, std::vector<std::size_t>(6, 5)) << "3 epochs of 2 batches";
  // Whose last batch is shorter is a group of its own then.
  std::vector<std::size_t> expected;
  for (int epoch = 0; epoch < 3; ++epoch)
    expected.insert(expected.end(), {5, 2, 3}); // By rows: 3, then 4.
  EXPECT_EQ(calls_of("fedavg", {8, 8, 8, 7, 7, 8, 8}), expected);
}

TEST(steps_in_step, are_of_as_many_visits_as_have_room) {
  const auto calls = std::make_shared<std::vector<std::size_t>>();
  const auto most_of = [&](std::size_t bytes) {
    calls->clear();
    auto how = setting_of("fedavg", 5);
    how.rows = {8, 8, 8, 8, 8, 8, 8};
    how.bytes_in_step = bytes;
    how.make_arithmetic = [calls] {
      return std::make_unique<counting_backend>(calls);
    };
    quadratic_federation testee{how};
    for (const auto& x : testee.trainer().train(next_visits(testee)))
      EXPECT_TRUE(x);
    return std::ranges::max(*calls);
  };
  constexpr std::size_t one = 2 * 6 * sizeof(float);
  EXPECT_EQ(most_of(0), 1u);
  EXPECT_EQ(most_of(3 * one), 3u);
  EXPECT_EQ(most_of(100 * one), 5u);
}

// It was the step of all of them.
TEST(steps_in_step, that_fail_end_the_visits_whose_call_it_was) {
  breakage broken;
  auto how = setting_of("fedavg", 4);
  how.rows = {8, 8, 8, 3};
  how.make_arithmetic = [&] {
    return std::make_unique<brittle_backend>(broken);
  };
  quadratic_federation testee{how};
  auto visits = next_visits(testee);
  visits.resize(4);
  const auto expected = testee.trainer().train(visits);
  const auto calls_of_one_answer = std::uint64_t{2};
  for (const auto kind : {breakage::kind::error, breakage::kind::exception,
                          breakage::kind::no_memory}) {
    broken.set(calls_of_one_answer + 1,
               kind); // The second answer's, of 4 rows.
    const auto found = testee.trainer().train(visits);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_FALSE(found[i]);
      EXPECT_EQ(found[i].error().context, broken.text());
    }
    expect_same(found[3], expected[3]);
    broken = {};
    expect_same(testee.trainer().train(visits), expected);
  }
}

TEST_P(in_step, a_visit_that_fails_ends_alone) {
  quadratic_federation one{setting_of(GetParam(), 1)};
  auto visits = next_visits(one);
  visits[1].fetched.clear();
  const auto expected = alone(one.trainer(), visits);
  ASSERT_FALSE(expected[1]);
  for (const std::size_t k : {2, 7}) {
    quadratic_federation several{setting_of(GetParam(), k)};
    expect_same(several.trainer().train(visits), expected);
  }
}

TEST_P(in_step, a_visit_that_fails_halfway_leaves_nothing_behind) {
  auto how = setting_of(GetParam(), 7);
  quadratic_federation sound{how};
  const auto visits = next_visits(sound);
  const auto expected = sound.trainer().train(visits);
  how.make_model = [](auto problem) -> std::unique_ptr<models::objective> {
    return std::make_unique<brittle>(problem);
  };
  quadratic_federation testee{how};
  auto first = testee.trainer().train(visits);
  if (!first[4]) { // Some ask for no gradient.
    EXPECT_EQ(first[4].error().context, "the fifth gradient");
    first[4] = expected[4];
  }
  expect_same(first, expected);
  expect_same(testee.trainer().train(visits), expected);
}

} // namespace troupe::test::in_step_test
