#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "core/random.hpp"
#include "tests/support/link_ends.hpp"

namespace troupe::transport {
namespace {

using namespace ends;

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
      const auto number =
        std::get<messages::visit_ended>(*decode(x)).visit.number.value;
      ASSERT_GT(number, last) << "seed " << seed;
      last = number;
    }
  }
  EXPECT_GT(cuts, 3000);
  EXPECT_GT(within, 1000);
}

// What was said to the one before may have been answered by it.
TEST(link, brings_each_large_frame_at_most_once_to_ends_that_are_made_again) {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto found = run_with_cuts(seed, true);
    std::uint64_t last = 0;
    for (const auto& x : found.large) {
      const auto number = number_of(x);
      ASSERT_GT(number, last) << "seed " << seed;
      lost += number - last - 1;
      last = number;
    }
  }
  EXPECT_GT(lost, 0U);
}

TEST(link, stays_with_the_newest_connection_when_an_opening_comes_late) {
  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
  a.link.connected(1);
  send(a);
  cut(a, true);
  a.link.connected(2);
  settle(a, b);
  deliver(a.late, b);
  a.link.say({1}, large(1));
  settle(a, b);
  EXPECT_EQ(b.heard.size(), 1U);
}

} // namespace
} // namespace troupe::transport
