// Who is invited more often than others, and rates that fall by an equal
// factor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policies/schedule.hpp"
#include "tests/support/config_text.hpp"

namespace troupe::node {

namespace {

using ::testing::HasSubstr;

const std::string hundred =
  "rounds = 1\nclients = 100\nclients_per_round = 10\n";

/// Of the clients that come often, how many there are in a cohort.
std::uint32_t quota_of(const std::string& more) {
  const auto x = read(hundred + more);
  EXPECT_TRUE(x) << x.error().context;
  return x ? x->x.clients.often_per_round : 0;
}

} // namespace

TEST(often, is_half_of_a_cohort_where_nothing_else_is_said) {
  EXPECT_EQ(quota_of(""), 0u);
  EXPECT_EQ(quota_of("often = 5"), 5u);
  EXPECT_EQ(quota_of("often = 3"), 3u) << "there are no more of them";
  EXPECT_EQ(quota_of("often = 20"), 5u);
  const auto few = read(hundred + "often = 20", {"clients_per_round=3"});
  ASSERT_TRUE(few) << few.error().context;
  EXPECT_EQ(few->x.clients.often_per_round, 1u);
  EXPECT_EQ(quota_of("often = 20\noften_per_round = 7"), 7u);
}

TEST(often, leaves_somebody_else_and_a_place_for_them) {
  EXPECT_EQ(refusal(hundred + "often = 100"),
            "a.toml:4: 'often' leaves nobody else: it must be below the 100 "
            "clients that can be invited, found 100");
  EXPECT_THAT(refusal(hundred + "often = 90\nheld_out = 20"),
              HasSubstr("below the 80 clients that can be invited, found 90"));
  EXPECT_EQ(refusal(hundred + "often = 5\noften_per_round = 6"),
            "a.toml:5: 'often_per_round' must be at most 'often', 5, found 6");
  EXPECT_EQ(refusal(hundred + "often = 20\noften_per_round = 10"),
            "a.toml:5: 'often_per_round' leaves no place for others: it must "
            "be below 'clients_per_round', 10, found 10");
  EXPECT_THAT(refusal("rounds = 1\nclients_per_round = 1\noften = 2"),
              HasSubstr("a.toml:3: 'often_per_round' leaves no place"));
}

TEST(often, without_such_clients_has_no_quota) {
  const auto x = read(hundred + "often_per_round = 4");
  ASSERT_TRUE(x) << x.error().context;
  ASSERT_EQ(x->notes.size(), 1u);
  EXPECT_THAT(x->notes[0], HasSubstr("'often_per_round' has no effect"));
}

TEST(schedules, fall_by_an_equal_factor) {
  const auto x = read("rounds = 1\n[training.schedule]\nkind = 'exponential'\n"
                      "last = 0.25");
  ASSERT_TRUE(x) << x.error().context;
  const auto& found = x->x.training.schedule;
  EXPECT_DOUBLE_EQ(policies::rate_factor(found, 0.5), 0.5);
  EXPECT_THAT(write_config(x->x), HasSubstr("kind = \"exponential\"\nlast = "));
  EXPECT_DOUBLE_EQ(policies::rate_factor(
                     read("rounds = 1", {"training.schedule.kind=exponential"})
                       ->x.training.schedule,
                     1),
                   0.1)
    << "the tenth part, where nothing else is said";
}

TEST(schedules, have_a_last_rate_where_they_fall_to_one) {
  for (const std::string kind : {"cosine", "exponential"}) {
    const auto x = read("rounds = 1", {"training.schedule.kind=" + kind,
                                       "training.schedule.last=0.5"});
    ASSERT_TRUE(x) << x.error().context;
    EXPECT_TRUE(x->notes.empty());
    EXPECT_DOUBLE_EQ(policies::rate_factor(x->x.training.schedule, 1), 0.5);
  }
  const auto x = read("rounds = 1", {"training.schedule.kind=step",
                                     "training.schedule.last=0.5"});
  ASSERT_TRUE(x) << x.error().context;
  ASSERT_EQ(x->notes.size(), 1u);
  EXPECT_THAT(x->notes[0], HasSubstr("kind = \"cosine\" or \"exponential\""));
}

// Their statistics go where they go.
TEST(buffers_of_experts, are_averaged) {
  const auto refused = [](const std::string& method, const char* rule) {
    const auto x = parse_config({"rounds = 1\nmethod = '" + method
                                   + "'\n[model]\nbuffers = '" + rule + "'",
                                 "a.toml"});
    return x ? std::string{} : x.error().context;
  };
  for (const auto* rule : {"local", "freeze"}) {
    EXPECT_EQ(refused("average_ensemble", rule),
              "a.toml:4: 'model.buffers' must be \"average\" with method "
              "'average_ensemble', whose experts have buffers of their own");
    EXPECT_EQ(refused("fedavg", rule), "");
  }
  EXPECT_EQ(refused("average_ensemble", "average"), "");
}

} // namespace troupe::node
