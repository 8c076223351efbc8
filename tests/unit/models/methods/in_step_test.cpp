// Laws of visits that are computed together, over all methods: how many are in
// step changes nothing of what any of them comes to.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/methods/visit.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/quadratic_federation.hpp"

namespace troupe::test {

namespace {

using models::trained;
using models::visit_input;

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
  quadratic_setting x{.method = *policies::find_recipe(method),
                      .how = {.local_epochs = 3,
                              .batch_size = 4,
                              .learning_rate = 0.05,
                              .method = {}},
                      .problem = {.seed = 5,
                                  .dimension = 6,
                                  .clients = rows.size(),
                                  .rows_per_client = 10,
                                  .noise = 0.5},
                      .in_step = in_step,
                      .rows = rows};
  x.how.method = with_defaults(x.method);
  return x;
}

/// All clients' next visits.
std::vector<visit_input> visits_of(const quadratic_federation& x) {
  std::vector<visit_input> all;
  for (std::uint64_t k = 1; k <= rows.size(); ++k)
    all.push_back(x.visit(k, 100 + k));
  return all;
}

void expect_equal(const result<trained>& a, const result<trained>& b,
                  std::size_t client) {
  SCOPED_TRACE("client " + std::to_string(client));
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) {
    EXPECT_EQ(a.error().context, b.error().context);
    return;
  }
  EXPECT_EQ(a->loss, b->loss);
  EXPECT_EQ(a->steps, b->steps);
  EXPECT_EQ(a->disclosures, b->disclosures);
  EXPECT_EQ(a->next, b->next);
  ASSERT_EQ(a->parts.size(), b->parts.size());
  for (std::size_t i = 0; i < a->parts.size(); ++i) {
    EXPECT_EQ(a->parts[i].block, b->parts[i].block);
    EXPECT_EQ(a->parts[i].rank, b->parts[i].rank);
    EXPECT_EQ(a->parts[i].weight, b->parts[i].weight);
    EXPECT_EQ(*a->parts[i].delta, *b->parts[i].delta);
  }
}

std::vector<std::string> all_methods() {
  std::vector<std::string> names;
  for (const auto& x : policies::catalogue())
    names.push_back(x.name);
  return names;
}

class in_step : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(all, in_step, testing::ValuesIn(all_methods()),
                         [](const auto& x) { return x.param; });

} // namespace

TEST_P(in_step, visits_come_to_the_bits_of_each_alone) {
  quadratic_federation one{setting_of(GetParam(), 1)};
  one.rounds(2); // So that clients have something of their own.
  const auto visits = visits_of(one);
  std::vector<result<trained>> alone;
  for (const auto& x : visits)
    alone.push_back(one.trainer().train(x));
  for (const std::size_t k : {1, 2, 7}) {
    SCOPED_TRACE(k);
    quadratic_federation several{setting_of(GetParam(), k)};
    // Twice: what one visit leaves behind is not the next one's.
    for (int times = 0; times < 2; ++times) {
      const auto together = several.trainer().train(visits);
      ASSERT_EQ(together.size(), visits.size());
      for (std::size_t i = 0; i < visits.size(); ++i) {
        EXPECT_TRUE(together[i]) << together[i].error().context;
        expect_equal(together[i], alone[i], i + 1);
      }
    }
  }
}

TEST_P(in_step, a_visit_that_fails_ends_alone) {
  quadratic_federation one{setting_of(GetParam(), 1)};
  auto visits = visits_of(one);
  visits[1].fetched.clear();
  std::vector<result<trained>> alone;
  for (const auto& x : visits)
    alone.push_back(one.trainer().train(x));
  ASSERT_FALSE(alone[1]);
  for (const std::size_t k : {2, 7}) {
    quadratic_federation several{setting_of(GetParam(), k)};
    const auto together = several.trainer().train(visits);
    for (std::size_t i = 0; i < visits.size(); ++i)
      expect_equal(together[i], alone[i], i + 1);
  }
}

TEST_P(in_step, a_visit_that_fails_halfway_leaves_nothing_behind) {
  auto how = setting_of(GetParam(), 7);
  quadratic_federation sound{how};
  const auto visits = visits_of(sound);
  const auto expected = sound.trainer().train(visits);
  how.make_model = [](auto problem) -> std::unique_ptr<models::objective> {
    return std::make_unique<brittle>(problem);
  };
  quadratic_federation testee{how};
  const auto first = testee.trainer().train(visits);
  for (std::size_t i = 0; i < visits.size(); ++i)
    if (i != 4)
      expect_equal(first[i], expected[i], i + 1);
  if (!first[4]) { // Some ask for no gradient.
    EXPECT_EQ(first[4].error().context, "the fifth gradient");
  }
  const auto second = testee.trainer().train(visits);
  for (std::size_t i = 0; i < visits.size(); ++i)
    expect_equal(second[i], expected[i], i + 1);
}

} // namespace troupe::test
