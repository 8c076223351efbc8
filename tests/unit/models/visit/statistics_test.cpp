// Statistics of a model belong to a visit, over all methods: none of them is
// another visit's, an evaluation's or a choice's.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/every_method.hpp"
#include "tests/support/moving_statistics.hpp"
#include "tests/support/same_visits.hpp"

namespace troupe::test::statistics_test {

namespace {

using policies::buffer_policy;

using maker = std::function<std::unique_ptr<models::objective>(
  std::shared_ptr<const models::quadratic_problem>)>;

quadratic_setting setting_of(
  const std::string& method, std::size_t in_step, buffer_policy how,
  maker make = [](auto problem) {
    return std::make_unique<moving_statistics>(problem);
  }) {
  auto x = noisy_setting(method, 3, {10, 10, 3, 0, 9, 1, 10});
  x.method = policies::with_buffers(x.method, how);
  x.how.method = with_defaults(x.method);
  x.in_step = in_step;
  x.make_model = std::move(make);
  return x;
}

/// Methods that mix what several models say have no place for statistics.
bool takes(quadratic_federation& x) {
  const auto found = x.trainer().train(x.visit(1, 5));
  if (found)
    return true;
  EXPECT_NE(found.error().context.find("this one has buffers"),
            std::string::npos)
    << found.error().context;
  return false;
}

class statistics : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(all, statistics, ::testing::ValuesIn(all_methods()),
                         [](const auto& x) { return x.param; });

} // namespace

TEST_P(statistics, of_a_visit_are_its_own) {
  for (const auto how : {buffer_policy::local, buffer_policy::freeze}) {
    quadratic_federation one{setting_of(GetParam(), 1, how)};
    if (!takes(one))
      return;
    one.rounds(2);
    const auto visits = next_visits(one);
    const auto expected = alone(one.trainer(), visits);
    for (const auto& x : expected)
      EXPECT_TRUE(x) << x.error().context;
    for (const std::size_t k : {1, 3, 7}) {
      SCOPED_TRACE(k);
      quadratic_federation several{setting_of(GetParam(), k, how)};
      expect_same(several.trainer().train(visits), expected);
      const models::evaluation_input x{
        .versions = visits[0].fetched, .per_client = true, .states = {}};
      EXPECT_TRUE(several.trainer().evaluate(x));
      auto back = visits;
      std::ranges::reverse(back);
      auto found = several.trainer().train(back);
      std::ranges::reverse(found);
      expect_same(found, expected);
    }
  }
}

TEST_P(statistics, are_those_of_a_fresh_visit_after_one_that_failed) {
  breakage broken, sound;
  auto how =
    setting_of(GetParam(), 3, buffer_policy::freeze,
               [&, places = 0](
                 auto problem) mutable -> std::unique_ptr<models::objective> {
                 return std::make_unique<moving_statistics>(
                   problem, places++ == 1 ? &broken : &sound);
               });
  quadratic_federation testee{how};
  if (!takes(testee))
    return;
  const auto visits = next_visits(testee);
  const auto expected = testee.trainer().train(visits);
  for (std::uint64_t n = 0; n < 60; ++n) {
    SCOPED_TRACE(n);
    broken.set(n, static_cast<breakage::kind>(n % 3));
    auto found = testee.trainer().train(visits);
    bool failed = false;
    for (std::size_t i = 1; i < found.size(); i += 3)
      if (!found[i]) {
        failed = true;
        found[i] = expected[i];
      }
    expect_same(found, expected);
    broken = {};
    expect_same(testee.trainer().train(visits), expected);
    ASSERT_FALSE(HasFailure());
    if (!failed)
      return;
  }
}

// What is scored and chosen with is what the layout says, and not what a visit,
// a warm-up or a step at home left.
TEST_P(statistics, that_are_frozen_are_those_of_each_score) {
  std::vector<moving_statistics*> made;
  auto how =
    setting_of(GetParam(), 1, buffer_policy::freeze,
               [&](auto problem) -> std::unique_ptr<models::objective> {
                 auto one = std::make_unique<moving_statistics>(problem);
                 made.push_back(one.get());
                 return one;
               });
  if (how.how.method.contains("stateless"))
    how.how.method["stateless"] = 1;
  quadratic_federation testee{how};
  if (!takes(testee))
    return;
  const auto visits = next_visits(testee);
  const models::evaluation_input x{
    .versions = visits[0].fetched, .per_client = true, .states = {}};
  std::optional<models::evaluated> first;
  for (const std::size_t who : {0, 2, 5, 3}) {
    ASSERT_TRUE(testee.trainer().train(visits[who]));
    made.front()->scored_with.clear();
    ASSERT_TRUE(testee.trainer().choose(visits[who]));
    const auto found = testee.trainer().evaluate(x);
    ASSERT_TRUE(found);
    for (const auto& live : made.front()->scored_with)
      EXPECT_EQ(live, (std::array{0.5f, 1.f}));
    if (!first)
      first = *found;
    EXPECT_EQ(found->global.loss, first->global.loss);
    for (const auto& [client, scores] : first->per_client)
      EXPECT_EQ(found->per_client.at(client).loss, scores.loss);
    EXPECT_EQ(found->method_results, first->method_results);
  }
}

TEST(statistics_of_its_own_model, stay_with_a_client) {
  for (const auto* method : {"pfedme", "ditto"}) {
    quadratic_federation testee{setting_of(method, 1, buffer_policy::freeze)};
    const auto found = testee.trainer().train(testee.visit(1, 5));
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->next.blocks.contains("own_model.buffers")) << method;
  }
}

} // namespace troupe::test::statistics_test
