#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "actors/transport/landing_pool.hpp"
#include "actors/transport/link_end.hpp"

// Between the values that were trained and those that are merged a byte is
// copied once on either side: into the socket, and to where it stays.

namespace troupe::transport::copies_test {
namespace {

constexpr std::size_t values = 100'000;

bool lies_in(std::span<const std::byte> part, const shared_values& whole) {
  const auto all = std::as_bytes(*whole);
  return part.data() >= all.data()
         && part.data() + part.size() <= all.data() + all.size();
}

messages::offer_made offer_of(const std::vector<shared_values>& deltas) {
  messages::offer_made out;
  out.pass.visit = {{1}, {1}};
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    messages::offer_block part;
    part.block = {i + 1};
    part.delta = deltas[i];
    out.blocks.push_back(std::move(part));
  }
  return out;
}

shared_values counted(float first) {
  std::vector<float> x(values);
  for (auto& y : x)
    y = first++;
  return share(std::move(x));
}

link_end::options options_of(std::uint64_t instance,
                             std::shared_ptr<landing_pool> landing) {
  link_end::options x;
  x.out.chunk_bytes = 16 << 10;
  x.in.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 30; };
  x.in.room = std::make_shared<held_bytes>(1 << 30);
  x.in.landing = std::move(landing);
  x.instance = instance;
  return x;
}

/// What went over a connection until nothing was left to be said.
struct passage {
  std::uint64_t bytes = 0;         ///< Of chunks.
  std::uint64_t bytes_shared = 0;  ///< Of those, in values that were given.
  std::vector<arrival> heard = {}; ///< By the other end.
};

passage pass(const messages::any_message& message, link_end& from,
             link_end& to) {
  passage out;
  from.connected(1);
  EXPECT_EQ(from.say({1}, message), outbox::taken::taken);
  const auto* offer = std::get_if<messages::offer_made>(&message);
  for (bool more = true; more;) {
    more = false;
    while (const auto x = from.next()) {
      more = true;
      if (x->kind == piece_kind::chunk) {
        out.bytes += x->body.bytes.size();
        for (std::size_t i = 0; offer && i < offer->blocks.size(); ++i)
          if (lies_in(x->body.bytes, offer->blocks[i].delta))
            out.bytes_shared += x->body.bytes.size();
      }
      auto found = to.heard(*x);
      EXPECT_TRUE(found);
      if (found)
        std::ranges::move(*found, std::back_inserter(out.heard));
    }
    while (const auto x = to.next()) {
      more = true;
      EXPECT_TRUE(from.heard(*x));
    }
  }
  return out;
}

TEST(copies, who_sends_makes_none_of_values) {
  const auto offer = offer_of({counted(0), counted(1)});
  link_end from{options_of(1, std::make_shared<landing_pool>(0))};
  link_end to{options_of(2, std::make_shared<landing_pool>(0))};
  const auto seen = pass(offer, from, to);
  EXPECT_EQ(seen.bytes_shared, 2 * values * sizeof(float));
  EXPECT_LT(seen.bytes - seen.bytes_shared, 300U);
}

TEST(copies, who_receives_makes_one_to_where_values_stay) {
  const auto offer = offer_of({counted(0), counted(1)});
  const auto landing = std::make_shared<landing_pool>(1 << 30);
  link_end from{options_of(1, std::make_shared<landing_pool>(0))};
  link_end to{options_of(2, landing)};
  auto seen = pass(offer, from, to);
  ASSERT_EQ(seen.heard.size(), 1U);
  auto message = seen.heard[0].what.open();
  ASSERT_TRUE(message);
  seen.heard.clear(); // The frame may go: its values have its memory.
  EXPECT_EQ(landing->kept(), 0U);
  {
    const auto& got = std::get<messages::offer_made>(**message);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(*got.blocks[i].delta, *offer.blocks[i].delta);
    // One after the other, as they were sent: nothing has moved them since.
    const auto* first = got.blocks[0].delta->data();
    const auto* second = got.blocks[1].delta->data();
    EXPECT_LT(second - first, static_cast<std::ptrdiff_t>(values + 64));
    EXPECT_GT(second - first, static_cast<std::ptrdiff_t>(values));
    EXPECT_EQ(got.blocks[0].delta.owner(), got.blocks[1].delta.owner());
  }
  message = nullptr;
  EXPECT_GE(landing->kept(), 2 * values * sizeof(float));
}

TEST(copies, the_first_values_lie_where_loops_like_them) {
  messages::line_served served;
  served.blocks.push_back({{1}, counted(0)});
  for (const messages::any_message& message :
       {messages::any_message{offer_of({counted(0)})},
        messages::any_message{served}}) {
    link_end from{options_of(1, std::make_shared<landing_pool>(0))};
    link_end to{options_of(2, std::make_shared<landing_pool>(1 << 30))};
    const auto seen = pass(message, from, to);
    ASSERT_EQ(seen.heard.size(), 1U);
    const auto got = seen.heard[0].what.open();
    ASSERT_TRUE(got);
    const auto* offer = std::get_if<messages::offer_made>(got->get());
    const auto values =
      offer ? offer->blocks[0].delta
            : std::get<messages::line_served>(**got).blocks[0].values;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values->data())
                % landing_pool::alignment,
              0U);
    EXPECT_EQ(*values, counted(0).copy());
  }
}

TEST(copies, small_values_of_a_large_message_do_not_keep_it) {
  const auto offer = offer_of({counted(0), share({1, 2, 3})});
  const auto landing = std::make_shared<landing_pool>(1 << 30);
  link_end from{options_of(1, std::make_shared<landing_pool>(0))};
  link_end to{options_of(2, landing)};
  auto seen = pass(offer, from, to);
  ASSERT_EQ(seen.heard.size(), 1U);
  shared_values few;
  {
    const auto message = seen.heard[0].what.open();
    ASSERT_TRUE(message);
    few = std::get<messages::offer_made>(**message).blocks[1].delta;
    seen.heard.clear();
  }
  EXPECT_EQ(*few, (std::vector<float>{1, 2, 3}));
  EXPECT_GT(landing->kept(), 0U);
}

TEST(landing_pool, is_aligned_and_gives_what_is_free_again) {
  const auto testee = std::make_shared<landing_pool>(3 << 20);
  std::set<const std::byte*> places;
  for (int i = 0; i < 5; ++i) {
    const auto x = testee->take(1 << 20);
    places.insert(x.get());
    EXPECT_EQ(
      reinterpret_cast<std::uintptr_t>(x.get()) % landing_pool::alignment, 0U);
  }
  EXPECT_EQ(places.size(), 1U);
}

TEST(landing_pool, keeps_no_more_than_it_may) {
  auto testee = std::make_shared<landing_pool>(3 << 20);
  {
    std::vector<std::shared_ptr<std::byte>> all;
    for (int i = 0; i < 5; ++i)
      all.push_back(testee->take(1 << 20));
    EXPECT_EQ(testee->kept(), 0U);
  }
  EXPECT_EQ(testee->kept(), std::uint64_t{3} << 20);
}

TEST(landing_pool, leaves_what_somebody_holds) {
  auto testee = std::make_shared<landing_pool>(3 << 20);
  const auto x = testee->take(100);
  testee = nullptr;
  x.get()[99] = std::byte{1};
}

} // namespace
} // namespace troupe::transport::copies_test
