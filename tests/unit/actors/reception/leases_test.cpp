#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/reception/leases.hpp"

namespace troupe::actors::leases_test {
namespace {

constexpr leases::owner first{1};
constexpr leases::owner second{2};

using clients = std::vector<client_id>;

TEST(leases, are_the_lowest_free_numbers_and_the_same_again) {
  leases x{{.clients = 6}};
  EXPECT_EQ(*x.give(first, 2), (clients{{1}, {2}}));
  EXPECT_EQ(*x.give(second, 3), (clients{{3}, {4}, {5}}));
  EXPECT_EQ(*x.give(first, 2), (clients{{1}, {2}}));
  EXPECT_EQ(*x.give(first, 1), (clients{{1}}));
  EXPECT_EQ(*x.give(first, 3), (clients{{1}, {2}, {6}}));
  EXPECT_EQ(x.free(), 0U);
}

TEST(leases, beyond_what_is_free_are_refused_and_nothing_changes) {
  leases x{{.clients = 3}};
  (void)x.give(first, 2);
  const auto refused = x.give(second, 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context,
            "of the run's 3 clients 1 is free; --virtual 1 would do");
  EXPECT_EQ(x.give(first, 4).error().context,
            "of the run's 3 clients 1 is free, and 2 are yours already; "
            "--virtual 3 would do");
  EXPECT_FALSE(x.give(second, 0));
  EXPECT_EQ(x.free(), 1U);
  EXPECT_EQ(x.all().by_owner.size(), 1U);
}

// Fewer than one would not do.
TEST(leases, of_which_none_is_free_are_had_in_another_way) {
  leases x{{.clients = 2, .named_above = 2, .named_max = 1}};
  (void)x.give(first, 2);
  EXPECT_EQ(x.give(first, 3).error().context,
            "of the run's 2 clients none is free, and 2 are yours already; "
            "--virtual 2 would do");
  const std::string none = "of the run's 2 clients none is free, and none will "
                           "be; the --store of who has some would do";
  EXPECT_EQ(x.give(second, 1).error().context,
            none + ", or --id NAME --data PATH, with data of your own");
  (void)x.give(second, "ward7");
  EXPECT_EQ(x.give(second, 1).error().context, none);
}

TEST(leases, come_back_as_they_were_stored) {
  leases x{{.clients = 4}};
  (void)x.give(first, 1);
  (void)x.give(second, 2);
  leases y{{.clients = 4}};
  EXPECT_TRUE(y.restore(x.all()));
  EXPECT_EQ(*y.give(second, 2), (clients{{2}, {3}}));
  EXPECT_EQ(y.free(), 1U);
}

TEST(leases, of_another_run_are_not_restored) {
  leases x{{.clients = 3}};
  const auto wrong = [&x](const leases::contents& stored) {
    const auto found = x.restore(stored);
    return found ? "nothing" : found.error().context;
  };
  EXPECT_EQ(wrong({.by_owner = {{first, {{4}}}}}),
            "client 4 is none of the run's 3");
  EXPECT_EQ(wrong({.by_owner = {{first, {{0}}}}}),
            "client 0 is none of the run's 3");
  EXPECT_EQ(wrong({.by_owner = {{first, {{1}, {2}}}, {second, {{2}}}}}),
            "client 2 is given to two processes");
  EXPECT_EQ(x.free(), 3U);
}

constexpr leases::room with_names{
  .clients = 3, .named_above = 5, .named_max = 2};

TEST(leases, of_a_name_are_one_number_above_the_partition_for_ever) {
  leases x{with_names};
  EXPECT_EQ(*x.give(first, "ward7"), client_id{6});
  EXPECT_EQ(*x.give(second, "ward8"), client_id{7});
  EXPECT_EQ(*x.give(first, "ward7"), client_id{6});
  leases y{with_names};
  ASSERT_TRUE(y.restore(x.all()));
  EXPECT_EQ(*y.give(second, "ward8"), client_id{7});
  EXPECT_EQ(y.free(), 3U);
}

TEST(leases, of_a_name_are_no_others) {
  leases x{with_names};
  (void)x.give(first, "ward7");
  const auto refused = x.give(second, "ward7");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context,
            "another process has the name 'ward7'; where it is yours, the "
            "store that it began with would do, else --id with another name");
  (void)x.give(second, "ward8");
  EXPECT_EQ(x.give(second, "ward9").error().context,
            "this run has room for 2 clients with data of their own "
            "('clients' of its configuration), and as many have a name, for "
            "good; this store has one: --id ward8 would do");
  EXPECT_THAT(x.give({3}, "ward9").error().context,
              testing::EndsWith("who has one joins with its --store, and a run "
                                "that begins anew has room for others"));
  EXPECT_EQ(x.named_by(second), 1U);
}

TEST(leases, have_names_that_do_nothing_to_a_terminal) {
  leases x{with_names};
  for (const std::string name :
       {"", "a b", "a\x1b[2J", "a\n", "..", "-v", "a/b", "\xc3\xbc"})
    EXPECT_FALSE(x.give(first, name)) << name;
  EXPECT_FALSE(x.give(first, std::string(65, 'a')));
  EXPECT_TRUE(x.give(first, std::string(64, 'a')));
}

TEST(leases, of_names_that_cannot_be_are_not_restored) {
  using all = leases::contents;
  leases x{with_names};
  const leases::named sixth{first, {6}};
  EXPECT_FALSE(x.restore(all{.by_name = {{"a", {first, {5}}}}}));
  EXPECT_FALSE(x.restore(all{.by_name = {{"a", {first, {7}}}}}));
  const auto two = x.restore(all{.by_name = {{"a", sixth}, {"b", sixth}}});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().context, "client 6 has two names");
  EXPECT_FALSE(x.restore(all{.by_name = {{"a b", sixth}}}));
  EXPECT_TRUE(x.restore(all{.by_name = {{"a", sixth}}}));
}

} // namespace
} // namespace troupe::actors::leases_test
