#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/link_ends.hpp"

namespace troupe::transport::link_test {
namespace {

using namespace ends;
using taken = outbox::taken;

TEST(link, says_nothing_before_both_ends_have_opened) {
  end a{options_of(1, 100)};
  EXPECT_EQ(a.link.say({3}, small(1)), taken::taken);
  EXPECT_FALSE(send(a));
  a.link.connected(5);
  EXPECT_TRUE(send(a));
  EXPECT_FALSE(send(a));
  EXPECT_FALSE(a.link.is_open());
}

TEST(link, brings_frames_whole_and_with_their_channel) {
  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
  a.link.connected(1);
  a.link.say({3}, large(1));
  a.link.say({4}, small(2));
  b.link.say({5}, large(3));
  settle(a, b);
  ASSERT_EQ(b.heard.size(), 2U);
  EXPECT_EQ(b.heard[0].channel, channel_id{4}); // It overtakes.
  EXPECT_EQ(bytes_of(b.heard[0]), encode(small(2)));
  EXPECT_EQ(b.heard[1].channel, channel_id{3});
  EXPECT_EQ(bytes_of(b.heard[1]), encode(large(1)));
  EXPECT_EQ(b.heard[1].what.size(), encode(large(1)).size());
  ASSERT_EQ(a.heard.size(), 1U);
  EXPECT_EQ(bytes_of(a.heard[0]), encode(large(3)));
}

TEST(link, takes_no_large_message_twice_while_it_is_under_way) {
  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
  a.link.connected(1);
  EXPECT_EQ(a.link.say({3}, large(1)), taken::taken);
  EXPECT_EQ(a.link.say({3}, large(1)), taken::already);
  EXPECT_EQ(a.link.say({4}, large(1)), taken::taken);
  settle(a, b);
  EXPECT_EQ(b.heard.size(), 2U);
  a.link.say({3}, large(1));
  settle(a, b);
  EXPECT_EQ(b.heard.size(), 3U);
}

// Or what is said again and again while nobody is there would all arrive.
TEST(link, says_the_newest_of_small_frames_about_the_same) {
  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
  const auto beat = [](std::uint64_t session) -> messages::any_message {
    return messages::beat{{3}, {session}};
  };
  EXPECT_EQ(a.link.say({3}, beat(1)), taken::taken);
  EXPECT_EQ(a.link.say({3}, small(1)), taken::taken);
  for (std::uint64_t i = 2; i < 10'000; ++i)
    EXPECT_EQ(a.link.say({3}, beat(i)), taken::already);
  EXPECT_EQ(a.link.say({4}, beat(5)), taken::taken);
  a.link.connected(1);
  settle(a, b);
  ASSERT_EQ(b.heard.size(), 3U);
  EXPECT_EQ(bytes_of(b.heard[0]), encode(beat(9999)));
  EXPECT_EQ(bytes_of(b.heard[1]), encode(small(1)));
  EXPECT_EQ(bytes_of(b.heard[2]), encode(beat(5)));
  EXPECT_EQ(a.link.say({3}, beat(1)), taken::taken);
}

/// Values of a line, for a client's visit; more than a frame has.
messages::line_served served(std::uint64_t client, std::uint64_t visit,
                             std::uint64_t line) {
  messages::line_served x;
  x.visit = {{client}, {visit}};
  x.line = {line};
  x.blocks.push_back({{1}, share(std::vector<float>(700))});
  return x;
}

messages::invited invited(std::uint64_t client, std::uint64_t visit) {
  messages::invited x;
  x.pass.visit = {{client}, {visit}};
  return x;
}

/// Visits and lines of the answers among what was heard.
std::vector<std::pair<visit_id, line_id>> answers_in(const end& x) {
  std::vector<std::pair<visit_id, line_id>> out;
  for (const auto& one : x.heard) {
    const auto message = one.what.open();
    EXPECT_TRUE(message);
    if (const auto* y =
          message ? std::get_if<messages::line_served>(&**message) : nullptr)
      out.emplace_back(y->visit, y->line);
  }
  return out;
}

// Or each visit of a client that reads too slowly would keep a version more.
TEST(link, keeps_no_answers_to_visits_that_are_over) {
  end server{options_of(1, 100)};
  const auto keeps = [&](const messages::any_message& after) {
    auto answer = served(1, 7, 1);
    const std::weak_ptr<const void> values = answer.blocks[0].values.owner();
    EXPECT_EQ(server.link.say({3}, answer), taken::taken);
    answer = {};
    EXPECT_FALSE(values.expired());
    EXPECT_EQ(server.link.say({4}, after), taken::taken);
    return !values.expired();
  };
  using messages::visit_ended;
  constexpr auto withdrawn = policies::verdict::withdrawn;
  EXPECT_FALSE(keeps(visit_ended{{{1}, {7}}, withdrawn}));
  EXPECT_FALSE(keeps(invited(1, 8)));
  EXPECT_FALSE(keeps(served(1, 9, 1)));
  EXPECT_TRUE(keeps(visit_ended{{{1}, {6}}, withdrawn}))
    << "another one is over";
}

TEST(link, brings_answers_to_visits_that_are_not_over) {
  end client{options_of(1, 100)};
  end server{options_of(2, 100)};
  for (const std::uint64_t line : {1, 2})
    server.link.say({3}, served(1, 7, line));
  server.link.say({4}, served(2, 5, 1));
  server.link.say({4}, invited(2, 5));
  server.link.say({3}, messages::visit_ended{{{2}, {4}}, {}});
  server.link.say({3}, messages::offer_held{.visit = {{1}, {8}}});
  client.link.connected(1);
  settle(client, server);
  using answers = std::vector<std::pair<visit_id, line_id>>;
  EXPECT_EQ(answers_in(client),
            (answers{{{{1}, {7}}, {1}}, {{{1}, {7}}, {2}}, {{{2}, {5}}, {1}}}));
}

// The other end takes no other one before it.
TEST(link, brings_what_has_begun_though_its_visit_is_over) {
  end client{options_of(1, 100)};
  end server{options_of(2, 100)};
  client.link.connected(1);
  server.link.say({3}, served(1, 7, 1));
  server.link.say({3}, served(1, 7, 2));
  send(client);
  deliver(client, server);
  send(server); // `opened`,
  send(server); // and `began`.
  deliver(server, client);
  deliver(server, client);
  cut(server, false);
  client.link.lost();
  server.link.lost();
  client.link.connected(2); // Over which it has not begun yet.
  server.link.say({3}, invited(1, 8));
  server.link.say({3}, served(1, 8, 1));
  settle(client, server);
  using answers = std::vector<std::pair<visit_id, line_id>>;
  EXPECT_EQ(answers_in(client),
            (answers{{{{1}, {7}}, {1}}, {{{1}, {8}}, {1}}}));
  EXPECT_TRUE(server.link.is_idle());
  EXPECT_EQ(server.link.own_bytes(), 0U);
}

// The other one may have answered it.
TEST(link, says_nothing_to_another_end_than_it_was_said_to) {
  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
  a.link.connected(1);
  settle(a, b);
  a.link.lost();
  a.link.say({3}, large(1));
  a.link.say({3}, large(2, 1)); // In one piece.
  end c{options_of(3, 100)};
  a.link.connected(2);
  settle(a, c);
  EXPECT_TRUE(c.heard.empty());
  EXPECT_EQ(a.link.own_bytes(), 0U);
  a.link.say({3}, large(1));
  a.link.say({3}, large(2, 1));
  settle(a, c);
  EXPECT_EQ(c.heard.size(), 2U);
  // The same one, over another connection.
  a.link.lost();
  a.link.say({3}, large(4));
  a.link.connected(3);
  settle(a, c);
  EXPECT_EQ(c.heard.size(), 3U);
}

TEST(link, says_all_of_an_answer_that_has_many_messages) {
  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
  for (std::uint64_t k = 1; k <= 3; ++k)
    EXPECT_EQ(
      a.link.say({}, messages::scores_told{7, {{.client = client_id{k}}}}),
      taken::taken);
  EXPECT_EQ(a.link.say({}, messages::scores_told{7, {}}), taken::taken);
  a.link.connected(1);
  settle(a, b);
  EXPECT_EQ(b.heard.size(), 4U);
}

TEST(link, sends_no_more_than_the_other_end_allows) {
  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
  a.link.connected(1);
  a.link.say({3}, large(1));
  std::size_t under_way = 0;
  std::size_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    while (send(a)) {}
    under_way = 0;
    for (const auto& x : a.out)
      under_way += x.body.size();
    most = std::max(most, under_way);
    deliver(a, b);
    send(b);
    deliver(b, a);
  }
  EXPECT_EQ(b.heard.size(), 1U);
  EXPECT_GT(most, 300U);
  EXPECT_LE(most, 600U);
}

TEST(link, waits_where_there_is_no_room_and_lets_small_frames_pass) {
  const auto room = std::make_shared<held_bytes>(6000);
  end a{options_of(1, 100)};
  end b{options_of(2, 100, room)};
  a.link.connected(1);
  a.link.say({3}, large(1));
  a.link.say({3}, large(2));
  settle(a, b);
  ASSERT_EQ(b.heard.size(), 1U);
  a.link.say({3}, small(3));
  settle(a, b);
  EXPECT_EQ(b.heard.size(), 2U);
  b.heard.clear(); // They are handled.
  settle(a, b);
  ASSERT_EQ(b.heard.size(), 1U);
  EXPECT_EQ(bytes_of(b.heard[0]), encode(large(2)));
  b.heard.clear();
  EXPECT_EQ(room->now(), 0U);
}

// Whoever is slow with what it was handed is handed nothing large, and hears
// the small.
TEST(link, counts_frames_that_nobody_has_handled) {
  const auto room = std::make_shared<held_bytes>(std::uint64_t{1} << 20,
                                                 std::function<void()>{}, 3);
  end a{options_of(1, 100)};
  end b{options_of(2, 100, room)};
  a.link.connected(1);
  for (std::uint64_t i = 0; i < 3; ++i)
    (void)a.link.say({1}, small(i));
  (void)a.link.say({1}, large(9));
  (void)a.link.say({2}, small(4));
  settle(a, b);
  EXPECT_EQ(b.heard.size(), 4U);
  EXPECT_EQ(room->frames(), 4U);
  EXPECT_TRUE(b.link.waits_for_room());
  b.heard.resize(2); // Two are handled.
  EXPECT_EQ(room->frames(), 2U);
  settle(a, b);
  ASSERT_EQ(b.heard.size(), 3U);
  EXPECT_EQ(bytes_of(b.heard.back()), encode(large(9)));
  b.heard.clear();
  EXPECT_EQ(room->frames(), 0U);
  EXPECT_EQ(room->now(), 0U);
}

TEST(link, takes_what_is_larger_than_all_room_when_there_is_nothing_else) {
  const auto room = std::make_shared<held_bytes>(1000);
  end a{options_of(1, 100)};
  end b{options_of(2, 100, room)};
  a.link.connected(1);
  a.link.say({3}, large(1));
  settle(a, b);
  EXPECT_EQ(b.heard.size(), 1U);
}

TEST(link, refuses_what_is_larger_than_a_message_of_its_kind_can_be) {
  auto strict = options_of(2, 100);
  strict.in.bytes_max = [](std::uint16_t kind) -> std::uint64_t {
    return kind == messages::offer_made::wire.kind ? 1000 : 0;
  };
  end a{options_of(1, 100)};
  end b{std::move(strict)};
  a.link.connected(1);
  a.link.say({3}, large(1));
  a.link.say({3}, large(2, 40));
  for (int i = 0; i < 50; ++i) {
    send(a);
    send(b);
    deliver(b, a);
    if (a.out.empty())
      continue;
    const auto x = a.out.front();
    a.out.pop_front();
    auto found = b.link.heard(*read_piece(x.head, x.body));
    if (!found)
      EXPECT_THAT(found.error().context,
                  ::testing::HasSubstr("up to 1000 would do"));
    else
      std::ranges::move(*found, std::back_inserter(b.heard));
  }
  ASSERT_EQ(b.heard.size(), 1U);
  EXPECT_EQ(bytes_of(b.heard[0]), encode(large(2, 40)));
  EXPECT_FALSE(send(a));
}

// A key that is allowed may say what it likes before it says whose it is.
TEST(link, takes_hardly_more_than_a_hello_before_there_is_a_session) {
  auto wary = options_of(2, 100);
  wary.in.stranger_bytes_max = 100;
  end a{options_of(1, 100)};
  end b{std::move(wary)};
  a.link.connected(1);
  a.link.say({3}, large(1));
  a.link.say({4}, large(2, 1)); // In one piece.
  a.link.say({5}, small(1));
  settle(a, b);
  std::map<std::uint64_t, bool> left_out;
  for (const auto& x : b.heard)
    left_out[x.channel.value] = x.what.is_left_out();
  EXPECT_EQ(left_out,
            (std::map<std::uint64_t, bool>{{3, true}, {4, true}, {5, false}}));
  EXPECT_FALSE(b.link.holds_room());
  EXPECT_TRUE(a.link.is_idle());
  b.link.has_session();
  b.heard.clear();
  a.link.say({3}, large(1));
  a.link.say({4}, large(2, 1));
  settle(a, b);
  ASSERT_EQ(b.heard.size(), 2U);
  EXPECT_EQ(bytes_of(b.heard[0]), encode(large(2, 1)));
  EXPECT_EQ(bytes_of(b.heard[1]), encode(large(1)));
}

/// Whether a chunk that was changed so is refused.
bool refuses_chunk(const std::function<void(piece&)>& change) {
  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
  a.link.connected(1);
  a.link.say({3}, large(1));
  bool refused = false;
  for (int i = 0; i < 200 && !refused; ++i) {
    send(a);
    send(b);
    deliver(b, a);
    while (!a.out.empty()) {
      auto read = read_piece(a.out.front().head, a.out.front().body);
      if (read->kind == piece_kind::chunk && read->at > 0)
        change(*read);
      refused |= !b.link.heard(*read);
      a.out.pop_front();
    }
  }
  return refused;
}

TEST(link, refuses_a_chunk_of_another_place) {
  EXPECT_TRUE(refuses_chunk([](piece& x) { x.at -= 1; }));
}

TEST(link, refuses_a_chunk_of_another_transfer) {
  EXPECT_TRUE(refuses_chunk([](piece& x) { x.transfer.value += 1; }));
  EXPECT_FALSE(refuses_chunk([](piece&) {}));
}

TEST(link, holds_no_more_than_its_bound_of_what_is_its_own) {
  auto x = options_of(1, 100);
  x.out.queued_bytes_max = 200;
  link_end a{std::move(x)};
  int room = 0;
  for (std::uint64_t i = 0; i < 100; ++i)
    room += a.say({1}, small(i)) == taken::taken;
  EXPECT_EQ(room, 200 / static_cast<int>(encode(small(1)).size()));
}

} // namespace
} // namespace troupe::transport::link_test
