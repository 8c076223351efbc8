#include "node/run/keeper.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "actors/record/events.hpp"
#include "actors/record/kept_offers.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

/// Refuses so many times.
offer_keeper refusing(int times) {
  return [left = std::make_shared<int>(times)](const messages::offer_made&,
                                               std::uint64_t) -> result<void> {
    if ((*left)-- > 0)
      return fail(errc::storage_failure, "no space left");
    return {};
  };
}

TEST(keeper, waits_under_a_simulation_until_there_is_room) {
  int waits = 0;
  const auto testee = waits_for_room(refusing(3), [&](const error& why) {
    EXPECT_EQ(why.context, "an offer cannot be kept: no space left");
    return ++waits < 10;
  });
  EXPECT_TRUE(testee({}, 7));
  EXPECT_EQ(waits, 3);
}

TEST(keeper, waits_no_longer_than_it_is_told_to) {
  int waits = 0;
  const auto testee =
    waits_for_room(refusing(1000), [&](const error&) { return ++waits < 10; });
  EXPECT_FALSE(testee({}, 7));
  EXPECT_EQ(waits, 10);
}

TEST(keeper, leaves_it_to_clients_and_says_what_they_wait_for) {
  std::vector<std::string> told;
  const auto testee =
    leaves_it_to_clients(refusing(2), [&](const error* refused) {
      told.push_back(refused ? refused->context : "there is room");
    });
  const auto copied = testee; // By a node that begins again.
  EXPECT_FALSE(testee({}, 7));
  EXPECT_FALSE(copied({}, 7));
  EXPECT_TRUE(testee({}, 7));
  EXPECT_TRUE(copied({}, 7));
  const std::string full = "an offer cannot be kept: no space left";
  EXPECT_EQ(told, (std::vector<std::string>{full, full, "there is room"}));
}

TEST(keeper, keeps_in_the_folder_of_the_run_where_it_is_to) {
  const test::scratch_folder scratch;
  const std::filesystem::path folder{scratch.path()};
  experiment x;
  EXPECT_FALSE(keeper_in(x, folder));
  EXPECT_FALSE(waits_for_room({}, {}));
  EXPECT_FALSE(leaves_it_to_clients({}, {}));
  for (const auto clock : {clock_kind::wall, clock_kind::virtual_time}) {
    x.keep_offers = true;
    x.clock = clock;
    messages::offer_made offer;
    offer.pass.visit = {{3}, {clock == clock_kind::wall ? 1u : 2u}};
    ASSERT_TRUE(keeper_in(x, folder)(offer, 12));
    const auto found = actors::kept_offers{folder / "offers"}.find(
      offer.pass.visit, actors::checksum_of(offer));
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->examples, 12u);
  }
}

} // namespace
} // namespace troupe::node
