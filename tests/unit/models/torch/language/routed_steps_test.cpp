// What CoMiGS's clients do over all of a run: when their routers learn, and
// what goes on while generalists are merged.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/routed_shapes.hpp"

namespace troupe::test {

namespace {

class routed_steps : public over_shapes {};

INSTANTIATE_TEST_SUITE_P(all, routed_steps, ::testing::ValuesIn(routed_shapes),
                         name_of_shape);

} // namespace

// The publication's runs have 10, 20 and 50 rounds of ten steps.
TEST_P(routed_steps, have_as_many_bursts_as_published) {
  notes seen;
  auto how = routed_setting_of("comigs");
  how.how.local_steps = 10;
  how.how.batch_size = 1;
  how.to = &seen;
  routed_federation testee{how};
  std::vector<std::uint64_t> bursts;
  std::uint64_t steps = 0;
  std::uint64_t of_routers = 0;
  for (int round = 1; round <= 50; ++round) {
    seen.clear();
    testee.round({2});
    for (const auto& x : seen)
      if (is_of_training(x)) {
        ++steps;
      } else if (++of_routers % 10 == 1) {
        bursts.push_back(steps);
      }
    if (round == 10) {
      EXPECT_EQ(bursts, (std::vector<std::uint64_t>{30, 60, 90}));
    }
    if (round == 20) {
      EXPECT_EQ(bursts,
                (std::vector<std::uint64_t>{30, 60, 90, 120, 150, 180}));
      EXPECT_EQ(of_routers, 60u);
    }
  }
  EXPECT_EQ(steps, 500u);
  ASSERT_EQ(bursts.size(), 16u);
  EXPECT_EQ(bursts.back(), 480u);
  EXPECT_EQ(of_routers, 160u);
}

// They are those of all gradients of a client's life, whatever came down
// between visits.
TEST_P(routed_steps, have_moments_that_no_merge_touches) {
  notes seen;
  auto how = routed_setting_of("comigs", often());
  how.to = &seen;
  routed_federation testee{how};
  for (int round = 0; round < 3; ++round)
    testee.round();
  const auto state = *testee.loop().state({1});
  const auto kept = state.moments.at("experts.first").own_view();
  std::vector<double> wanted(kept.size());
  std::uint64_t steps = 0;
  for (const auto& x : seen) {
    const bool is_first_clients = x.rows.front() < routed_federation::rows_each;
    if (!is_first_clients || !is_of_training(x))
      continue;
    ++steps;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i] = 0.9 * wanted[i] + 0.1 * static_cast<double>(x.after[i]);
  }
  EXPECT_EQ(steps, 12u);
  EXPECT_EQ(state.counters.at("experts.steps"), 12u);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(static_cast<double>(kept[i]), wanted[i],
                1e-6 + 1e-5 * std::abs(wanted[i]))
      << i;
}

} // namespace troupe::test
