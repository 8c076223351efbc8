#include "actors/transport/places.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/limits.hpp"
#include "tests/support/link_ends.hpp"

namespace troupe::transport {
namespace {

using namespace std::chrono_literals;
using ends::large;

constexpr std::uint64_t room_bytes = 1 << 20;
constexpr std::size_t most_values = 25'000; ///< 200 KB in two blocks.

/// A server, and processes with a link each.
struct places_test : testing::Test {
  link_end& dial(std::uint64_t instance, const std::string& user = "",
                 std::size_t chunk_bytes = 512) {
    auto& end =
      processes
        .emplace(instance, link_end{ends::options_of(instance, chunk_bytes)})
        .first->second;
    users[instance] = user;
    end.connected(1);
    return end;
  }

  static std::string route_of(std::uint64_t instance) {
    return "route " + std::to_string(instance);
  }

  /// One piece each way. False: there is none.
  bool step(std::uint64_t instance) {
    auto& end = processes.at(instance);
    const auto up = end.next();
    if (up && up->kind == piece_kind::chunk)
      chunks[instance].push_back({up->at, up->body.bytes.size()});
    if (up) {
      auto* at = server.of(route_of(instance), users[instance], *up);
      if (at && at->hear(*up, now))
        number[instance] = at->number;
    }
    auto* at = server.find(number[instance]);
    const auto down = at ? server.next(*at, now) : std::nullopt;
    if (down)
      (void)end.heard(*down);
    return up || down;
  }

  void settle(std::uint64_t instance) {
    while (step(instance)) {}
  }

  place& at(std::uint64_t instance) {
    return *server.find(number.at(instance));
  }

  /// It is in the middle of something large.
  void say_half(std::uint64_t instance) {
    processes.at(instance).say({1}, large(1, most_values));
    for (int i = 0; i < 50; ++i)
      step(instance);
    ASSERT_TRUE(at(instance).link.holds_room());
    ASSERT_FALSE(chunks[instance].empty());
  }

  /// Has another connection.
  void come_back(std::uint64_t instance) {
    processes.at(instance).lost();
    processes.at(instance).connected(2);
    chunks[instance].clear();
  }

  struct sent_chunk {
    std::uint64_t begin;
    std::uint64_t bytes;
  };

  std::shared_ptr<held_bytes> room = std::make_shared<held_bytes>(room_bytes);
  places server{[](std::uint64_t n, std::shared_ptr<held_bytes> of) {
                  return ends::options_of(1000 + n, 512, std::move(of));
                },
                room};
  std::map<std::uint64_t, link_end> processes;
  std::map<std::uint64_t, std::string> users;
  std::map<std::uint64_t, std::uint64_t> number;
  std::map<std::uint64_t, std::vector<sent_chunk>> chunks; ///< By process.
  instant now = 1h;
};

} // namespace

// Whatever else it says.
TEST_F(places_test, take_room_from_what_hardly_goes_on) {
  auto& slow = dial(1, "", 1);
  slow.say({1}, large(1, most_values));
  for (int i = 0; i < 10; ++i)
    step(1);
  ASSERT_TRUE(at(1).link.holds_room());
  for (int i = 0; i < 4; ++i, now += 10s) {
    slow.say({1}, ends::small(static_cast<std::uint64_t>(i)));
    step(1); // The small one,
    step(1); // and a byte.
    server.forget_silent_holders(now - 30s);
  }
  EXPECT_TRUE(at(1).link.holds_room());
  server.forget_silent_holders(now - 30s);
  EXPECT_FALSE(at(1).link.holds_room());
}

TEST_F(places_test, leave_room_to_what_goes_on_slowly) {
  dial(1).say({1}, large(1, most_values));
  for (int i = 0; i < 10; ++i)
    step(1);
  for (int i = 0; i < 300; ++i, now += 200ms) { // 2,560 bytes a second.
    step(1);
    server.forget_silent_holders(now - 30s);
    ASSERT_TRUE(at(1).link.holds_room()) << i;
  }
}

// A window may take minutes, and whoever says nothing for seconds is given up.
TEST_F(places_test, say_each_second_how_far_a_slow_transfer_has_come) {
  auto& slow = dial(1, "", 1);
  slow.say({1}, large(1, most_values));
  for (int i = 0; i < 10; ++i)
    step(1);
  std::vector<std::uint64_t> told;
  for (int i = 0; i < 100; ++i) {
    now += 100ms;
    const auto byte = slow.next();
    ASSERT_TRUE(byte);
    ASSERT_EQ(byte->kind, piece_kind::chunk);
    ASSERT_TRUE(at(1).hear(*byte, now));
    if (const auto down = at(1).next(now)) {
      EXPECT_EQ(down->kind, piece_kind::reached);
      EXPECT_EQ(down->at, byte->at + 1);
      told.push_back(down->at);
      ASSERT_TRUE(slow.heard(*down));
    }
  }
  EXPECT_EQ(told.size(), 10U);
  settle(1);
  EXPECT_TRUE(slow.is_idle()) << "and all of it came";
}

// What waits for room is not silent.
TEST_F(places_test, count_from_the_moment_at_which_there_is_room) {
  auto all = room->take(room_bytes);
  dial(1).say({1}, large(1, most_values));
  settle(1);
  EXPECT_TRUE(at(1).link.waits_for_room());
  now += 1h;
  all.reset();
  step(1);
  ASSERT_TRUE(at(1).link.holds_room());
  server.forget_silent_holders(now - 30s);
  EXPECT_TRUE(at(1).link.holds_room());
}

// A server that says anything to who is gone hears at once that it is.
TEST_F(places_test, keep_what_has_come_of_an_upload_for_who_is_back) {
  dial(1);
  say_half(1);
  const auto last = chunks[1].back();
  server.lost(at(1), now);
  EXPECT_TRUE(server.keeps_room());
  now += 40s;
  come_back(1);
  step(1);
  EXPECT_FALSE(server.keeps_room());
  server.forget_silent_holders(now - 30s);
  EXPECT_TRUE(at(1).link.holds_room()) << "it could say nothing meanwhile";
  settle(1);
  EXPECT_TRUE(processes.at(1).is_idle());
  ASSERT_FALSE(chunks[1].empty());
  EXPECT_EQ(chunks[1].front().begin, last.begin + last.bytes);
}

TEST_F(places_test, keep_nothing_for_who_is_gone_where_others_wait) {
  for (const std::uint64_t i : {1, 2})
    dial(i, "ours"); // One of them has all room of the key.
  say_half(1);
  processes.at(2).say({1}, large(1, most_values));
  settle(2);
  ASSERT_TRUE(at(2).link.waits_for_room());
  server.lost(at(1), now);
  EXPECT_FALSE(server.keeps_room());
  settle(2);
  EXPECT_TRUE(processes.at(2).is_idle());
  come_back(1);
  settle(1);
  EXPECT_TRUE(processes.at(1).is_idle());
  ASSERT_FALSE(chunks[1].empty());
  EXPECT_EQ(chunks[1].front().begin, 0U);
}

TEST_F(places_test, keep_nothing_for_who_is_gone_once_others_wait) {
  for (const std::uint64_t i : {1, 2})
    dial(i, "ours");
  dial(3, "another");
  say_half(1);
  say_half(3);
  server.lost(at(1), now);
  ASSERT_TRUE(server.keeps_room());
  processes.at(2).say({1}, large(1, most_values));
  settle(2);
  EXPECT_FALSE(server.keeps_room());
  EXPECT_TRUE(processes.at(2).is_idle());
  EXPECT_TRUE(at(3).link.holds_room()) << "who is here keeps its own";
}

// What one key has is of no use to another one that has had its part.
TEST_F(places_test, keep_what_is_of_another_key_than_of_who_waits) {
  for (const std::uint64_t i : {1, 2})
    dial(i, "ours");
  dial(3, "another");
  say_half(1);
  say_half(3);
  processes.at(2).say({1}, large(1, most_values));
  for (int i = 0; i < 10; ++i)
    step(2);
  ASSERT_TRUE(at(2).link.waits_for_room());
  server.lost(at(3), now);
  EXPECT_TRUE(server.keeps_room());
  come_back(3);
  settle(3);
  EXPECT_TRUE(processes.at(3).is_idle());
  ASSERT_FALSE(chunks[3].empty());
  EXPECT_GT(chunks[3].front().begin, 0U) << "it goes on where it was";
}

TEST_F(places_test, keep_nothing_of_another_key_where_all_room_is_taken) {
  dial(1, "ours");
  dial(3, "another");
  say_half(3);
  server.lost(at(3), now);
  ASSERT_TRUE(server.keeps_room());
  const auto others = room->take(room_bytes - room->now());
  processes.at(1).say({1}, large(1, most_values));
  for (int i = 0; i < 10; ++i)
    step(1);
  EXPECT_FALSE(server.keeps_room());
}

TEST_F(places_test, keep_nothing_for_who_is_not_let_in_any_more) {
  dial(1);
  say_half(1);
  server.dismissed(at(1), now);
  EXPECT_FALSE(server.keeps_room());
  EXPECT_EQ(room->now(), 0U);
}

TEST_F(places_test, keep_room_of_who_is_gone_for_a_minute) {
  dial(1);
  dial(2);
  say_half(1);
  say_half(2);
  server.lost(at(1), now);
  server.all_lost(now);
  now += 60s;
  server.forget_gone(now);
  EXPECT_TRUE(server.keeps_room());
  EXPECT_GT(room->now(), 0U);
  now += 1s;
  server.forget_gone(now);
  EXPECT_FALSE(server.keeps_room());
  EXPECT_EQ(room->now(), 0U);
  EXPECT_EQ(server.find(number.at(1)), nullptr);
}

TEST_F(places_test, forget_who_is_gone_for_long_with_what_was_for_it) {
  for (const std::uint64_t i : {1, 2, 3}) {
    dial(i);
    settle(i);
  }
  std::weak_ptr<const void> values;
  {
    messages::line_served served;
    served.blocks.push_back({{1}, share(std::vector<float>(most_values))});
    values = served.blocks[0].values.owner();
    at(1).link.say({1}, served);
  }
  server.lost(at(1), now);
  EXPECT_FALSE(values.expired()) << "it goes on when the process is back";
  now += 59s;
  server.lost(at(2), now);
  EXPECT_NE(server.find(number.at(1)), nullptr);
  now += 2s;
  server.lost(at(3), now);
  EXPECT_EQ(server.find(number.at(1)), nullptr);
  EXPECT_NE(server.find(number.at(2)), nullptr);
  EXPECT_TRUE(values.expired());
}

TEST_F(places_test, count_each_link_that_ends_while_it_is_open) {
  for (const std::uint64_t i : {1, 2, 3}) {
    dial(i);
    settle(i);
  }
  EXPECT_EQ(server.take_lost(), 0U);
  server.lost(at(1), now);
  server.lost(at(1), now);
  EXPECT_EQ(server.take_lost(), 1U);
  server.all_lost(now);
  EXPECT_EQ(server.take_lost(), 2U);
  for (std::uint64_t i = 0; i <= limits::links_per_key_max; ++i) {
    dial(100 + i, "key");
    settle(100 + i);
  }
  EXPECT_EQ(server.take_lost(), 1U) << "it made room";
}

TEST_F(places_test, count_nobody_who_has_said_that_it_leaves) {
  for (const std::uint64_t i : {1, 2}) {
    dial(i);
    settle(i);
  }
  EXPECT_EQ(server.look(now).connected, 2U);
  at(1).has_parted = true;
  EXPECT_EQ(server.look(now).connected, 1U);
  server.lost(at(1), now);
  processes.at(1).lost();
  processes.at(1).connected(2);
  settle(1);
  EXPECT_EQ(server.look(now).connected, 2U) << "it is back";
}

TEST_F(places_test, give_one_key_a_quarter_of_all_room) {
  for (const std::uint64_t i : {1, 2})
    dial(i, "ours", 1);
  dial(3, "another", 1);
  for (const std::uint64_t i : {1, 2, 3}) {
    processes.at(i).say({1}, large(1, most_values));
    for (int k = 0; k < 10; ++k)
      step(i);
  }
  EXPECT_TRUE(at(1).link.holds_room());
  EXPECT_TRUE(at(2).link.waits_for_room());
  EXPECT_TRUE(at(3).link.holds_room());
}

// Beside its bytes a frame costs something, however small it is.
TEST(held_bytes, drop_small_frames_beyond_half_of_what_there_is) {
  const auto all = std::make_shared<held_bytes>(64 << 20);
  const auto one = std::make_shared<held_bytes>(16 << 20, all);
  const auto fill = [](held_bytes& x, std::uint64_t bytes) {
    std::vector<std::shared_ptr<const void>> out;
    while (auto y = x.count(bytes))
      out.push_back(std::move(y));
    return out;
  };
  auto own = fill(*one, 1024 - held_bytes::frame_costs);
  EXPECT_EQ(own.size(), 8U << 10) << "its part";
  EXPECT_EQ(all->dropped(), 1U);
  auto rest = fill(*all, 0);
  EXPECT_EQ(rest.size(), (24U << 20) / held_bytes::frame_costs);
  EXPECT_EQ(one->count(0), nullptr);
  rest.clear();
  EXPECT_EQ(one->count(0), nullptr) << "there is room again, and not for it";
  own.clear();
  EXPECT_EQ(all->now(), 0U);
  EXPECT_NE(one->count(0), nullptr);
}

} // namespace troupe::transport
