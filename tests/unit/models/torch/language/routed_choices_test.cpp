// What CoMiGS's publication leaves open, as options of its clients' visits.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "tests/support/routed_federation.hpp"

namespace troupe::test {

namespace {

/// The routers of a client that has trained, and they have not.
floats first_routers(options said) {
  said.insert({"router_steps", 0});
  routed_federation testee{routed_setting_of("comigs", std::move(said))};
  const auto found = testee.trainer().train(testee.visit(1, 5));
  EXPECT_TRUE(found) << (found ? "" : found.error().context);
  return found ? kept(found->next, "router") : floats{};
}

} // namespace

TEST(routed_choices, say_how_wide_routers_begin) {
  const auto usual = first_routers({});
  const auto wide = first_routers({{"router_deviation", 0.5}});
  ASSERT_EQ(usual.size(), routers_of(2));
  ASSERT_EQ(wide.size(), usual.size());
  for (std::size_t i = 0; i < usual.size(); ++i)
    EXPECT_NEAR(wide[i], 25 * usual[i], 1e-6) << i;
  EXPECT_FALSE(is_zero(usual));
  EXPECT_TRUE(is_zero(first_routers({{"router_deviation", 0}})));
}

// Of two layers each has two rows of eight, and a bias of two.
TEST(routed_choices, say_whether_routers_have_a_bias) {
  const auto usual = first_routers({});
  const auto with = first_routers({{"router_bias", 1}});
  ASSERT_EQ(with.size(), routers_of(2) + 4);
  EXPECT_EQ(part(with, 0, 16), part(usual, 0, 16));
  EXPECT_EQ(part(with, 18, 16), part(usual, 16, 16));
  EXPECT_TRUE(is_zero(part(with, 16, 2)) && is_zero(part(with, 34, 2)));
  routed_federation testee{
    routed_setting_of("comigs", often({{"router_bias", 1}}))};
  const auto found = testee.trainer().train(testee.visit(1, 5));
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_FALSE(is_zero(part(kept(found->next, "router"), 34, 2)));
}

// Outer factors of both begin with zeros, so inner ones are what is apart.
TEST(routed_choices, say_whether_generalists_begin_apart) {
  for (const std::string method : {"comigs", "comigs_2g", "pfedmoe"}) {
    SCOPED_TRACE(method);
    notes seen;
    auto how = routed_setting_of(method, {{"generalist_start", 1}});
    how.how.learning_rate = 0;
    how.to = &seen;
    routed_federation testee{how};
    const auto& plan = *testee.task().inside->feed_forward;
    const std::string name =
      method == "comigs_2g" ? "generalist.0" : "generalist";
    const auto size = plan.size();
    const auto own = [&](std::uint64_t seed) {
      return models::initial_adapter(plan, derive_seed(seed, name));
    };
    const auto first = testee.trainer().train(testee.visit(1, 5));
    const auto second = testee.trainer().train(testee.visit(2, 6));
    ASSERT_TRUE(first && second);
    EXPECT_EQ(part(seen.front().parameters, 0, size), own(5));
    EXPECT_EQ(part(seen.back().parameters, 0, size), own(6));
    // What is merged moves by all that is between them.
    const auto before = testee.loop().values(name).copy();
    const auto& delta = *first->parts.front().delta;
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_NEAR(delta[i], own(5)[i] - before[i], 1e-6) << i;
    // So does what stands in attention.
    const auto drawn = models::initial_adapter(*testee.task().inside->attention,
                                               derive_seed(5, "attention"));
    const auto base = testee.loop().values("attention").copy();
    const auto beside = first->parts.back().delta.copy();
    ASSERT_EQ(beside.size(), drawn.size());
    EXPECT_FALSE(is_zero(beside));
    for (std::size_t i = 0; i < drawn.size(); ++i)
      ASSERT_NEAR(beside[i], drawn[i] - base[i], 1e-6) << i;
    // From then on it is what came.
    testee.round();
    const auto merged = testee.loop().values(name).copy();
    seen.clear();
    testee.round({3});
    EXPECT_EQ(part(seen.front().parameters, 0, size),
              floats(merged.begin(), merged.end()));
  }
}

TEST(routed_choices, say_nothing_of_a_start_where_nothing_is_merged) {
  EXPECT_EQ(
    find_option(*policies::find_recipe("comigs_2s"), "generalist_start"),
    nullptr);
}

} // namespace troupe::test
