#include <gtest/gtest.h>

#include "actors/transport/crossings.hpp"
#include "tests/support/link_ends.hpp"

namespace troupe::transport {
namespace {

using ends::large;

/// Says messages to an end that takes all of them.
struct sayer {
  std::vector<piece> say(const messages::any_message& x) {
    (void)from.add({3}, x);
    std::vector<piece> out;
    while (auto next = from.next()) {
      out.push_back(*next);
      if (next->kind == piece_kind::began)
        from.reached(next->transfer, 0, size_of(out.front()));
    }
    if (out.front().kind == piece_kind::began)
      from.refused(out.front().transfer); // It has it.
    return out;
  }

  static std::uint64_t size_of(const piece& x) {
    return decode_record<beginning>(x.body.bytes)->size;
  }

  outbox from{{.frame_bytes_max = 512, .chunk_bytes = 1000}};
};

std::vector<crossing> sorted(crossings& by, std::uint64_t link,
                             const std::vector<piece>& all) {
  std::vector<crossing> out;
  for (const auto& x : all)
    out.push_back(by.sort(link, x));
  return out;
}

/// As `sorted` has it of a large message.
std::vector<crossing> chunks(std::size_t pieces, crossing what) {
  std::vector<crossing> out(pieces, what);
  out.front() = crossing::link;
  return out;
}

using one = std::vector<crossing>;

TEST(crossings, are_values_or_small_messages_or_the_links_own) {
  crossings x;
  sayer one_end;
  EXPECT_EQ(sorted(x, 1, one_end.say(ends::small(1))), one{crossing::small});
  const auto all = one_end.say(large(1));
  ASSERT_GT(all.size(), 3U);
  EXPECT_EQ(sorted(x, 1, all), chunks(all.size(), crossing::values));
  for (const auto kind :
       {piece_kind::opened, piece_kind::reached, piece_kind::refused})
    EXPECT_EQ(x.sort(1, make_piece(kind, {}, {})), crossing::link);
  // Of a small model they come whole, and are values nevertheless.
  EXPECT_EQ(sorted(x, 1, one_end.say(large(2, 3))), one{crossing::values});
}

TEST(crossings, say_again_what_was_said_of_the_same_visit) {
  crossings x;
  sayer one_end;
  const auto whole = one_end.say(large(2, 3));
  EXPECT_EQ(sorted(x, 1, whole), one{crossing::values});
  EXPECT_EQ(sorted(x, 1, whole), one{crossing::said_again});
  EXPECT_EQ(sorted(x, 1, one_end.say(large(3, 3))), one{crossing::values});
  EXPECT_EQ(sorted(x, 2, whole), one{crossing::values}) << "of another link";
  (void)sorted(x, 1, one_end.say(large(1)));
  const auto again = one_end.say(large(1));
  EXPECT_EQ(sorted(x, 1, again), chunks(again.size(), crossing::said_again));
  // Beats are all alike, and nobody says them for want of an answer.
  const auto beat = one_end.say(messages::beat{{3}, {}});
  EXPECT_EQ(sorted(x, 1, beat), one{crossing::small});
  EXPECT_EQ(sorted(x, 1, beat), one{crossing::small});
}

TEST(crossings, say_again_what_a_lost_connection_took) {
  crossings x;
  sayer one_end;
  const auto all = one_end.say(large(1));
  for (std::size_t i = 0; i < 3; ++i)
    (void)x.sort(1, all[i]);
  // The other end has one chunk of two.
  EXPECT_EQ(x.sort(1, all[0]), crossing::link);
  EXPECT_EQ(x.sort(1, all[2]), crossing::said_again);
  EXPECT_EQ(x.sort(1, all[3]), crossing::values);
}

TEST(crossings, say_how_long_what_visits_fetch_and_offer_took) {
  using namespace std::chrono_literals;
  crossings x;
  sayer one_end;
  const auto all = one_end.say(large(1));
  auto now = 10s;
  for (const auto& next : all) {
    EXPECT_FALSE(x.take_carried()) << "it is not whole";
    (void)x.sort(1, next, now++);
  }
  const auto whole = x.take_carried();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->values.count, 1U);
  EXPECT_EQ(whole->values.seconds, static_cast<double>(all.size() - 1));
  EXPECT_EQ(whole->transfers, 1U);
  EXPECT_FALSE(x.take_carried());
  // Its last chunk again is no other one.
  (void)x.sort(1, all.back(), now);
  EXPECT_FALSE(x.take_carried());
  (void)sorted(x, 1, one_end.say(large(2, 3)));
  EXPECT_EQ(x.take_carried()->transfers, 0U) << "it crossed in one piece";
  (void)sorted(x, 1, one_end.say(ends::small(1)));
  EXPECT_FALSE(x.take_carried()) << "it has no values";
}

messages::line_served served_line(std::uint64_t line, std::size_t values) {
  messages::line_served out{.visit = {{3}, {5}},
                            .line = {line},
                            .base = {9},
                            .unchanged = 0,
                            .blocks = {}};
  out.blocks.push_back({{1}, share(std::vector<float>(values))});
  return out;
}

// A server hears the question, and says the answer: who asks waits from then
// on.
TEST(crossings, take_from_the_question_to_the_last_byte_of_what_was_fetched) {
  using namespace std::chrono_literals;
  crossings up;
  crossings down;
  sayer client;
  sayer server;
  const auto ask = [&](std::uint64_t visit, instant now) {
    messages::fetch_requested what;
    what.pass.visit = {{3}, {visit}};
    for (const auto& x : client.say(what))
      (void)up.sort(7, x, now);
    for (const auto& x : up.take_questions())
      down.was_asked(2, x, now);
  };
  const auto seconds_of = [&](const messages::any_message& x, instant now) {
    for (const auto& next : server.say(x))
      (void)down.sort(2, next, now);
    return down.take_carried().value().values.seconds;
  };
  EXPECT_EQ(seconds_of(served_line(1, 3), 1s), 0) << "nobody asked";
  ask(1, 10s);
  ask(1, 12s); // Nothing came: it is the same question.
  EXPECT_EQ(seconds_of(served_line(1, 700), 15s), 5);
  EXPECT_EQ(seconds_of(served_line(2, 3), 16s), 6) << "in one piece, likewise";
  EXPECT_EQ(seconds_of(large(1), 17s), 0) << "an offer is not asked for";
  ask(2, 20s);
  EXPECT_EQ(seconds_of(served_line(1, 700), 21s), 1);
  EXPECT_FALSE(up.take_carried());
}

TEST(crossings, take_no_time_of_what_a_client_has_already) {
  crossings x;
  sayer one_end;
  messages::line_served served{.visit = {{1}, {5}},
                               .line = {2},
                               .base = {9},
                               .unchanged = 1,
                               .blocks = {}};
  EXPECT_EQ(sorted(x, 1, one_end.say(served)).size(), 1U);
  EXPECT_FALSE(x.take_carried()) << "nothing is downloaded";
  served.unchanged = 0;
  served.blocks.push_back({{1}, share({4, 5})});
  EXPECT_EQ(sorted(x, 1, one_end.say(served)).size(), 1U);
  const auto whole = x.take_carried();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->values.count, 1U);
}

} // namespace
} // namespace troupe::transport
