#include "policies/presence.hpp"

#include <gtest/gtest.h>

#include <map>

namespace troupe::policies {

namespace {

constexpr instant hour = std::chrono::hours{1};

struct told {
  instant at{};
  life what;
};

/// All that happens in so long, asked for at its moments.
std::vector<told> lived(presence& x, instant length) {
  std::vector<told> out;
  while (x.next() && *x.next() <= length) {
    const auto now = *x.next();
    for (const auto& y : x.until(now))
      out.push_back({now, y});
  }
  return out;
}

scene scene_at(std::int64_t second, scene::kind what, std::uint64_t first,
               std::uint64_t last) {
  return {.when = instant{std::chrono::seconds{second}},
          .what = what,
          .first = {first},
          .last = {last}};
}

} // namespace

TEST(presence, is_of_everybody_for_ever_unless_something_says_otherwise) {
  presence x{{.clients = 3}};
  EXPECT_EQ(x.at_first(), (std::set<client_id>{{1}, {2}, {3}}));
  EXPECT_FALSE(x.next());
}

TEST(presence, in_windows_is_their_share_of_each_period) {
  const available_windows half{.period = 3600, .share = 0.25};
  presence x{{.seed = 7, .clients = 200, .available = half}};
  std::map<client_id, instant> since;
  std::map<client_id, instant> there;
  for (const auto who : x.at_first())
    since[who] = {};
  EXPECT_NEAR(static_cast<double>(since.size()), 50, 20);
  for (const auto& [at, what] : lived(x, 10 * hour)) {
    if (what.what == life_event::come) {
      EXPECT_TRUE(since.emplace(what.client, at).second);
    } else {
      ASSERT_EQ(what.what, life_event::go);
      ASSERT_TRUE(since.contains(what.client));
      there[what.client] += at - since.at(what.client);
      since.erase(what.client);
    }
  }
  for (const auto& [who, from] : since)
    there[who] += 10 * hour - from;
  EXPECT_EQ(there.size(), 200u);
  for (const auto& [who, time] : there)
    EXPECT_NEAR(seconds(time), 9000, 1) << who.value;
}

TEST(presence, is_the_recorded_one_where_there_is_a_record) {
  const auto record = parse_availability("client,from,to\n"
                                         "2,50,60\n1,0,10\n1,20.5,30\n",
                                         "a.csv");
  ASSERT_TRUE(record) << record.error().context;
  presence x{{.clients = 3, .available = *record}};
  EXPECT_EQ(x.at_first(), std::set<client_id>{{1}});
  std::vector<std::tuple<double, std::uint64_t, life_event>> seen;
  for (const auto& [at, what] : lived(x, hour))
    seen.emplace_back(seconds(at), what.client.value, what.what);
  EXPECT_EQ(seen, (std::vector<std::tuple<double, std::uint64_t, life_event>>{
                    {10, 1, life_event::go},
                    {20.5, 1, life_event::come},
                    {30, 1, life_event::go},
                    {50, 2, life_event::come},
                    {60, 2, life_event::go}}));
}

TEST(presence, breaks_as_often_as_it_is_told_and_comes_back) {
  presence x{{.seed = 3,
              .clients = 100,
              .crashes = {.per_hour = 2, .restart_seconds = 36}}};
  std::map<client_id, instant> down;
  int crashes = 0;
  for (const auto& [at, what] : lived(x, 50 * hour)) {
    if (what.what == life_event::crash) {
      ++crashes;
      EXPECT_TRUE(down.emplace(what.client, at).second);
    } else {
      ASSERT_EQ(what.what, life_event::come);
      EXPECT_EQ(at - down.at(what.client), std::chrono::seconds{36});
      down.erase(what.client);
    }
  }
  EXPECT_NEAR(crashes, 100 * 50 * 2 / 1.02, 400);
}

TEST(presence, breaks_once_in_thousands_of_years_where_that_is_told) {
  presence x{{.seed = 3,
              .clients = 100,
              .crashes = {.per_hour = 1e-7, .restart_seconds = 36}}};
  EXPECT_LE(lived(x, 50 * hour).size(), 1u);
}

TEST(presence, follows_a_scenario) {
  presence x{{.clients = 6,
              .scenario = {scene_at(10, scene::kind::join, 5, 6),
                           scene_at(20, scene::kind::leave, 1, 2),
                           scene_at(30, scene::kind::drain, 5, 5),
                           scene_at(40, scene::kind::fail, 3, 3),
                           scene_at(50, scene::kind::join, 1, 1)}}};
  EXPECT_EQ(x.at_first().size(), 3u) << "1, 5 and 6 join later";
  std::vector<std::pair<std::uint64_t, life_event>> seen;
  for (const auto& [at, what] : lived(x, hour))
    seen.emplace_back(what.client.value, what.what);
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, life_event>>{
                    {5, life_event::come},
                    {6, life_event::come},
                    {2, life_event::go},
                    {5, life_event::drain},
                    {3, life_event::crash},
                    {1, life_event::come}}));
}

TEST(presence, waits_for_versions_and_plays_a_scene_once) {
  presence x{{.clients = 2,
              .scenario = {{.when = version{4},
                            .what = scene::kind::leave,
                            .first = {2},
                            .last = {2}}}}};
  EXPECT_TRUE(x.reached({3}, {}).empty());
  EXPECT_EQ(x.reached({5}, {}), (std::vector<life>{{{2}, life_event::go}}));
  EXPECT_TRUE(x.reached({6}, {}).empty());
}

TEST(presence, has_nobody_there_who_is_wanted_and_not_available) {
  presence x{{.clients = 1,
              .available = recorded_availability{{{{1}, {{100, 200}}}}},
              .crashes = {},
              .scenario = {scene_at(50, scene::kind::leave, 1, 1),
                           scene_at(150, scene::kind::fail, 1, 1),
                           scene_at(160, scene::kind::join, 1, 1)}}};
  EXPECT_TRUE(x.at_first().empty());
  std::vector<told> seen = lived(x, hour);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].what.what, life_event::come);
  EXPECT_EQ(seen[0].at, std::chrono::seconds{160});
  EXPECT_EQ(seen[1].what.what, life_event::go);
  EXPECT_EQ(seen[1].at, std::chrono::seconds{200});
}

TEST(presence, names_the_line_of_a_record_that_is_wrong) {
  const auto refusal = [](std::string_view text) {
    const auto x = parse_availability(text, "a.csv");
    return x ? "read" : x.error().context;
  };
  EXPECT_EQ(refusal("1,2,3\n"),
            "a.csv:1: begins with '1,2,3'; the header client,from,to would do");
  EXPECT_EQ(refusal("client,from,to\n1,5,2\n"),
            "a.csv:2: '1,5,2' is no stretch; a client from 1 on and two times "
            "in seconds, the second one later, would do");
  EXPECT_EQ(refusal("client,from,to\n1,0,5\n1,4,9\n"),
            "a.csv: client 1 has stretches that overlap");
  for (const auto* bad : {"0,1,2", "1,1", "1,1,2,3", "x,1,2", "1,nan,2", ""})
    EXPECT_EQ(refusal("client,from,to\n" + std::string{bad} + "\n") == "read",
              std::string_view{bad}.empty())
      << bad;
}

} // namespace troupe::policies
