#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "actors/transport/envelope.hpp"
#include "actors/transport/link_end.hpp"
#include "core/random.hpp"

// Two ends of a link, and a network between them that may be cut at any piece.

namespace troupe::transport {
namespace {

constexpr std::uint64_t payload_max = 1 << 20;

link_end::options options_of(std::uint64_t instance, std::size_t chunk_bytes,
                             std::shared_ptr<held_bytes> room = nullptr) {
  link_end::options x;
  x.out.frame_bytes_max = 256;
  x.out.chunk_bytes = chunk_bytes;
  x.in.bytes_max = [](std::uint16_t) { return payload_max; };
  x.in.window_bytes = 600;
  x.in.room = room ? room : std::make_shared<held_bytes>(1 << 20);
  x.instance = instance;
  return x;
}

messages::any_message small(std::uint64_t i) {
  return messages::beat{{i}, {7}};
}

messages::any_message large(std::uint64_t i, std::size_t values = 700) {
  std::vector<float> x(values);
  std::iota(x.begin(), x.end(), static_cast<float>(i));
  messages::offer_made out;
  out.pass.visit = {{1}, {i}};
  const auto delta = share(x);
  for (std::uint64_t block : {1, 2}) {
    messages::offer_block part;
    part.block = {block};
    part.delta = delta;
    out.blocks.push_back(std::move(part));
  }
  return out;
}

/// A piece as it is on the wire.
struct sent {
  piece_head head;
  buffer body;
};

struct end {
  explicit end(link_end::options x) : link(std::move(x)) {
    // nop
  }

  link_end link;
  std::deque<sent> out = {};  ///< Under way to the other one.
  std::deque<sent> late = {}; ///< Over a connection that is gone.
  std::vector<arrival> heard = {};
};

/// Moves one piece into the network. False: there is none.
bool send(end& from) {
  const auto x = from.link.next();
  if (!x)
    return false;
  from.out.push_back(
    {head_of(*x), buffer{x->body.bytes.begin(), x->body.bytes.end()}});
  return true;
}

bool deliver(std::deque<sent>& from, end& to) {
  if (from.empty())
    return false;
  const auto x = std::move(from.front());
  from.pop_front();
  const auto read = read_piece(x.head, x.body);
  EXPECT_TRUE(read);
  auto found = to.link.heard(*read);
  EXPECT_TRUE(found) << (found ? "" : found.error().context);
  if (found && *found)
    to.heard.push_back(std::move(**found));
  return true;
}

bool deliver(end& from, end& to) {
  return deliver(from.out, to);
}

/// The connection is gone, with what was under way or before that arrives.
void cut(end& x, bool arrives) {
  if (arrives)
    std::ranges::move(x.out, std::back_inserter(x.late));
  x.out.clear();
}

void settle(end& a, end& b) {
  while (send(a) || send(b) || deliver(a, b) || deliver(b, a)) {}
}

buffer bytes_of(const arrival& x) {
  const auto message = x.what.open();
  EXPECT_TRUE(message);
  return message ? encode(**message) : buffer{};
}

TEST(link, says_nothing_before_both_ends_have_opened) {
  end a{options_of(1, 100)};
  EXPECT_TRUE(a.link.say({3}, small(1)));
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
  EXPECT_TRUE(a.link.say({3}, large(1)));
  EXPECT_TRUE(a.link.say({3}, large(1)));
  EXPECT_TRUE(a.link.say({4}, large(1)));
  settle(a, b);
  EXPECT_EQ(b.heard.size(), 2U);
  a.link.say({3}, large(1));
  settle(a, b);
  EXPECT_EQ(b.heard.size(), 3U);
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
    else if (*found)
      b.heard.push_back(**found);
  }
  ASSERT_EQ(b.heard.size(), 1U);
  EXPECT_EQ(bytes_of(b.heard[0]), encode(large(2, 40)));
  EXPECT_FALSE(send(a));
}

TEST(link, refuses_a_chunk_of_another_place) {
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
        read->at -= 1;
      const auto found = b.link.heard(*read);
      refused |= !found;
      a.out.pop_front();
    }
  }
  EXPECT_TRUE(refused);
}

TEST(link, holds_no_more_than_its_bound_of_what_is_its_own) {
  auto x = options_of(1, 100);
  x.out.queued_bytes_max = 200;
  link_end a{std::move(x)};
  int taken = 0;
  for (std::uint64_t i = 0; i < 100; ++i)
    taken += a.say({1}, small(i));
  EXPECT_EQ(taken, 200 / static_cast<int>(encode(small(1)).size()));
}

/// One run of a seed: what came of it.
struct cuts_and_arrivals {
  int cuts = 0;
  int within_a_transfer = 0;
  std::vector<buffer> large;
  std::vector<buffer> small;
};

/// With restarts: now and then the one end is another one.
cuts_and_arrivals run_with_cuts(std::uint64_t seed, bool restarts) {
  random_stream draw{derive_seed(seed, "cuts")};
  const auto below = [&](std::uint64_t n) { return draw.below(n); };
  end a{options_of(1, 1 + below(400))};
  std::uint64_t instance = 2;
  end b{options_of(instance, 100)};
  std::uint32_t connection = 0;
  cuts_and_arrivals out;
  a.link.connected(++connection);
  std::uint64_t next_large = 0;
  std::uint64_t next_small = 0;
  for (int i = 0; i < 1500; ++i) {
    const auto what = below(100);
    if (what < 2 && next_large < 12)
      a.link.say({1}, large(++next_large, 100 + below(400)));
    else if (what < 6)
      a.link.say({1}, small(++next_small));
    else if (what < 8) { // What is under way is lost, or comes too late.
      ++out.cuts;
      out.within_a_transfer += !a.out.empty();
      cut(a, below(2) == 0);
      cut(b, below(2) == 0);
      if (restarts && below(2) == 0) {
        auto before = std::move(b);
        b = end{options_of(++instance, 100)};
        b.late = std::move(before.late);
        b.heard = std::move(before.heard);
      }
      a.link.connected(++connection);
    } else if (what < 30)
      send(a);
    else if (what < 50)
      send(b);
    else if (what < 72)
      deliver(a, b);
    else if (what < 75)
      deliver(a.late, b);
    else if (what < 97)
      deliver(b, a);
    else
      deliver(b.late, a);
  }
  settle(a, b);
  for (const auto& x : b.heard) {
    auto bytes = bytes_of(x);
    (bytes.size() > 256 ? out.large : out.small).push_back(std::move(bytes));
  }
  return out;
}

/// Of a large frame, whose values are as they were made.
std::uint64_t number_of(const buffer& bytes) {
  const auto message = decode(bytes);
  EXPECT_TRUE(message);
  const auto& offer = std::get<messages::offer_made>(*message);
  const auto number = offer.pass.visit.number.value;
  const auto& values = *offer.blocks.at(1).delta;
  EXPECT_EQ(bytes, encode(large(number, values.size())));
  return number;
}

TEST(link, brings_each_large_frame_once_and_in_order_over_any_cuts) {
  int cuts = 0;
  int within = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto found = run_with_cuts(seed, false);
    cuts += found.cuts;
    within += found.within_a_transfer;
    ASSERT_LE(found.large.size(), 12U);
    for (std::size_t i = 0; i < found.large.size(); ++i)
      ASSERT_EQ(number_of(found.large[i]), i + 1) << "seed " << seed;
    std::uint64_t last = 0;
    for (const auto& x : found.small) {
      const auto number = std::get<messages::beat>(*decode(x)).client.value;
      ASSERT_GT(number, last) << "seed " << seed;
      last = number;
    }
  }
  EXPECT_GT(cuts, 3000);
  EXPECT_GT(within, 1000);
}

TEST(link, brings_each_large_frame_where_its_other_end_is_made_again) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto found = run_with_cuts(seed, true);
    std::set<std::uint64_t> numbers;
    for (const auto& x : found.large)
      numbers.insert(number_of(x));
    for (std::uint64_t i = 1; i <= numbers.size(); ++i)
      ASSERT_TRUE(numbers.contains(i)) << "seed " << seed;
  }
}

TEST(link, begins_anew_with_an_end_that_was_made_again) {
  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
  a.link.connected(1);
  a.link.say({1}, large(1));
  a.link.say({1}, large(2));
  while (b.heard.empty()) {
    send(a);
    send(b);
    deliver(a, b);
    deliver(b, a);
  }
  for (int i = 0; i < 20; ++i) {
    send(a);
    send(b);
    deliver(a, b);
    deliver(b, a);
  }
  end c{options_of(3, 100)};
  a.link.connected(2);
  a.out.clear();
  settle(a, c);
  ASSERT_EQ(c.heard.size(), 1U);
  EXPECT_EQ(bytes_of(c.heard[0]), encode(large(2)));
  EXPECT_EQ(a.link.other(), 3U);
}

} // namespace
} // namespace troupe::transport
