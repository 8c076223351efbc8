// What is wrong with what one client keeps stays with it: all of its own is no
// numbers after a visit, and before what that offers is merged.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "tests/support/passing_trainer.hpp"
#include "tests/support/private_federation.hpp"

namespace troupe::test::poisoned_test {

namespace {

/// All but what it has left of what all share, which is what it offers.
void poison(models::client_state& x) {
  const auto fill = [](personal_values& values) {
    std::ranges::fill(values.own_view(),
                      std::numeric_limits<float>::quiet_NaN());
  };
  for (auto& [name, values] : x.blocks)
    if (!name.starts_with("left_"))
      fill(values);
  for (auto& [name, values] : x.moments)
    fill(values);
}

/// A trainer that does so to one client, where it is told to.
class poisoner final : public passing_trainer {
public:
  poisoner(models::trainer& by, client_id whom)
    : passing_trainer(by),
      whom_(whom) {
    // nop
  }

  using passing_trainer::train;

  std::vector<result<models::trained>>
  train(std::span<const models::visit_input> xs) override {
    auto all = passing_trainer::train(xs);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (poisons && all[i] && xs[i].visit.client == whom_)
        poison(all[i]->next);
    return all;
  }

  bool poisons = false;

private:
  client_id whom_;
};

constexpr client_id ill{2};

struct some_run {
  private_federation of;
  reference_options how;
  poisoner by;
  reference_loop loop;

  explicit some_run(const private_case& x)
    : of(x, 4),
      how(of.loop_options()),
      by(of.trainer(), ill),
      loop(by, how) {
    // nop
  }

  result<void> round(std::uint64_t number, std::vector<std::uint64_t> who) {
    std::vector<invited> cohort;
    for (const auto k : who)
      cohort.push_back(
        {.client = {k},
         .seed = derive_seed(derive_seed(7, "visit", k), "round", number)});
    return loop.round(cohort);
  }

  void must_round(std::uint64_t number, std::vector<std::uint64_t> who) {
    const auto done = round(number, std::move(who));
    ASSERT_TRUE(done) << done.error().context;
  }
};

void expect_same_but_for_one(const some_run& x, const some_run& clean) {
  for (const auto& line : clean.how.blocks.lines) {
    const auto& found = x.loop.line(line.id);
    const auto& expected = clean.loop.line(line.id);
    ASSERT_EQ(found.size(), expected.size()) << line.name;
    for (std::size_t v = 0; v < found.size(); ++v) {
      EXPECT_EQ(found[v].merged, expected[v].merged);
      for (std::size_t i = 0; i < found[v].values.size(); ++i)
        EXPECT_EQ(*found[v].values[i], *expected[v].values[i])
          << line.name << " " << v;
    }
  }
  for (const std::uint64_t k : {1, 3})
    EXPECT_EQ(*x.loop.state({k}), *clean.loop.state({k})) << "client " << k;
}

class poisoned : public ::testing::TestWithParam<private_case> {};

INSTANTIATE_TEST_SUITE_P(all, poisoned, ::testing::ValuesIn(private_cases()),
                         [](const auto& x) { return x.param.name; });

} // namespace

TEST_P(poisoned, state_of_one_client_changes_no_bit_of_versions_and_others) {
  some_run clean{GetParam()};
  some_run testee{GetParam()};
  clean.must_round(1, {1, 2, 3});
  testee.must_round(1, {1, 2, 3});
  testee.by.poisons = true;
  clean.must_round(2, {1, 2, 3});
  testee.must_round(2, {1, 2, 3});
  testee.by.poisons = false;
  expect_same_but_for_one(testee, clean);
  EXPECT_FALSE(*testee.loop.state(ill) == *clean.loop.state(ill));
  // It cannot go on, and what that leaves in a worker is nobody's.
  const auto fails = testee.round(3, {ill.value});
  ASSERT_FALSE(fails);
  EXPECT_NE(fails.error().context.find("not finite"), std::string::npos)
    << fails.error().context;
  clean.must_round(3, {1, 3});
  testee.must_round(3, {1, 3});
  expect_same_but_for_one(testee, clean);
}

} // namespace troupe::test::poisoned_test
