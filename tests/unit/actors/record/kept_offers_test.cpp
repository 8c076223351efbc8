#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "actors/record/events.hpp"
#include "actors/record/kept_offers.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::actors {
namespace {

using ::testing::HasSubstr;

messages::offer_made some_offer(std::uint64_t number) {
  messages::offer_made x;
  x.pass.visit = {{3}, {number}};
  x.loss = 0.5;
  messages::offer_block part;
  part.block = {1};
  part.weight = 7;
  part.delta = share({1, 2, 3});
  x.blocks.push_back(std::move(part));
  return x;
}

std::string sum_of(std::uint64_t number) {
  return checksum_of(some_offer(number));
}

TEST(kept_offers, are_as_they_arrived) {
  const test::scratch_folder scratch;
  const kept_offers book{std::filesystem::path{scratch.path()} / "offers"};
  ASSERT_TRUE(book.keep({some_offer(1), 12}));
  ASSERT_TRUE(book.keep({some_offer(2), 13}));
  const auto found = book.find({{3}, {2}}, sum_of(2));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->examples, 13U);
  EXPECT_EQ((*found)->offer.loss, 0.5);
  EXPECT_EQ(*(*found)->offer.blocks.at(0).delta, (std::vector<float>{1, 2, 3}));
  const auto none = book.find({{3}, {4}}, sum_of(4));
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

// On a ticket from before a restart something else may be offered: what counts
// is in the record.
TEST(kept_offers, of_one_visit_are_told_apart) {
  const test::scratch_folder scratch;
  const kept_offers book{std::filesystem::path{scratch.path()}};
  ASSERT_TRUE(book.keep({some_offer(1), 12}));
  auto other = some_offer(1);
  other.loss = 0.25;
  ASSERT_TRUE(book.keep({other, 12}));
  EXPECT_EQ((**book.find({{3}, {1}}, sum_of(1))).offer.loss, 0.5);
  EXPECT_EQ((**book.find({{3}, {1}}, checksum_of(other))).offer.loss, 0.25);
}

TEST(kept_offers, are_not_taken_if_they_are_damaged_or_anothers) {
  const test::scratch_folder scratch;
  const std::filesystem::path folder{scratch.path()};
  const kept_offers book{folder};
  ASSERT_TRUE(book.keep({some_offer(1), 12}));
  const auto path = folder / ("3-1-" + sum_of(1));
  std::filesystem::copy_file(path, folder / ("3-2-" + sum_of(1)));
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t at = 0; at < size; at += 5)
    if (at < 8 || at >= 16) { // But for a number of examples.
      std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
      file.seekg(static_cast<std::streamoff>(at));
      const auto byte = static_cast<char>(file.get() ^ 4);
      file.seekp(static_cast<std::streamoff>(at));
      file.put(byte);
      file.close();
      const auto found = book.find({{3}, {1}}, sum_of(1));
      ASSERT_FALSE(found) << "byte " << at;
      EXPECT_THAT(found.error().context, HasSubstr(sum_of(1) + ": is damaged"));
      ASSERT_TRUE(book.keep({some_offer(1), 12}));
    }
  for (std::uintmax_t cut = 0; cut < size; cut += 7) {
    std::filesystem::resize_file(path, cut);
    EXPECT_FALSE(book.find({{3}, {1}}, sum_of(1)));
    ASSERT_TRUE(book.keep({some_offer(1), 12}));
  }
  EXPECT_FALSE(book.find({{3}, {2}}, sum_of(1))) << "it is of another visit";
}

} // namespace
} // namespace troupe::actors
