#include "models/adapters/rank_prefix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace troupe::models::rank_prefix_test {

namespace {

/// Two factors of three ranks: one of two columns, and one of a kernel's four.
block_layout factors() {
  block_layout x;
  x.rank = 3;
  x.tensors = {{"u", {3, 2}}, {"v", {3, 2, 2}}};
  x.size = size_of(x.tensors);
  return x;
}

std::vector<float> counted(std::size_t size) {
  std::vector<float> result(size);
  std::iota(result.begin(), result.end(), 1.f);
  return result;
}

using floats = std::vector<float>;

} // namespace

TEST(rank_prefix, is_the_first_rows_of_each_tensor) {
  const auto block = factors();
  const auto whole = counted(18);
  EXPECT_EQ(take_prefix(block, 1, whole), (floats{1, 2, 7, 8, 9, 10}));
  EXPECT_EQ(take_prefix(block, 2, whole),
            (floats{1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14}));
  for (const std::uint32_t all : {0, 3, 9})
    EXPECT_EQ(take_prefix(block, all, whole), whole) << all;
}

TEST(rank_prefix, is_known_by_its_size) {
  const auto block = factors();
  for (const std::uint32_t rank : {1, 2, 3})
    EXPECT_EQ(prefix_rank(block, prefix_size(block, rank)), rank);
  EXPECT_EQ(prefix_size(block, 0), 18u);
  for (const std::size_t none : {0, 1, 7, 17, 19, 24})
    EXPECT_EQ(prefix_rank(block, none), std::nullopt) << none;
  block_layout plain; // Without ranks there is only all of it.
  plain.size = 5;
  EXPECT_EQ(prefix_size(plain, 2), 5u);
  EXPECT_EQ(prefix_rank(plain, 5), 0u);
  EXPECT_EQ(prefix_rank(plain, 4), std::nullopt);
}

TEST(rank_prefix, is_all_of_a_tensor_that_has_no_more_ranks) {
  auto block = factors();
  block.tensors = {{"u", {3, 2}}, {"v", {1, 4}}};
  block.size = size_of(block.tensors);
  const auto whole = counted(10);
  EXPECT_EQ(take_prefix(block, 1, whole), (floats{1, 2, 7, 8, 9, 10}));
  EXPECT_EQ(take_prefix(block, 2, whole), (floats{1, 2, 3, 4, 7, 8, 9, 10}));
  EXPECT_EQ(prefix_rank(block, 8), 2u);
  floats back(10);
  put_prefix(block, 2, take_prefix(block, 2, whole), back);
  EXPECT_EQ(back, (floats{1, 2, 3, 4, 0, 0, 7, 8, 9, 10}));
}

TEST(rank_prefix, has_all_of_a_head_and_ranks_of_its_factors) {
  auto block = factors();
  block.tensors = {{"u", {3, 2}}, {"head.weight", {3, 1}}};
  block.size = size_of(block.tensors);
  const auto whole = counted(9);
  EXPECT_EQ(take_prefix(block, 1, whole), (floats{1, 2, 7, 8, 9}));
  block.tensors[1].name = "head.weight.v";
  EXPECT_EQ(take_prefix(block, 1, whole), (floats{1, 2, 7}));
}

TEST(rank_prefix, has_all_of_a_vector) {
  auto block = factors();
  block.tensors.insert(block.tensors.begin() + 1, {"bias", {3}});
  block.size = size_of(block.tensors);
  const auto whole = counted(21);
  EXPECT_EQ(take_prefix(block, 1, whole),
            (floats{1, 2, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(prefix_rank(block, 9), 1u);
  EXPECT_EQ(prefix_rank(block, 6), std::nullopt);
  floats to(21);
  put_prefix(block, 1, floats(9, 1), to);
  EXPECT_EQ(std::ranges::count(to, 1.f), 9);
  block.tensors = {{"w", {5}}};
  block.size = 5;
  EXPECT_EQ(prefix_size(block, 2), 5u) << "where nothing has a rank";
  put_prefix(block, 2, floats(5, 2), std::span{to}.first(5));
}

TEST(rank_prefix, goes_back_to_its_places) {
  const auto block = factors();
  const auto whole = counted(18);
  for (const std::uint32_t rank : {1, 2, 3}) {
    floats to(18, -1);
    put_prefix(block, rank, take_prefix(block, rank, whole), to);
    EXPECT_EQ(take_prefix(block, rank, to), take_prefix(block, rank, whole));
    EXPECT_EQ(std::ranges::count(to, -1.f),
              static_cast<std::ptrdiff_t>(18 - prefix_size(block, rank)));
  }
}

offered_block of_rank_one(float value) {
  return {.block = {}, .rank = 1, .delta = share(floats(6, value))};
}

TEST(rank_prefix, leads_to_zero_where_it_lacks_values) {
  const auto block = factors();
  const auto base = counted(18);
  constexpr auto most = std::numeric_limits<float>::max();
  const auto moved = padded(block, of_rank_one(.5f), base, most);
  for (std::size_t j = 0; j < 18; ++j)
    EXPECT_EQ(moved[j], j < 2 || (j >= 6 && j < 10) ? .5f : -base[j]) << j;
  const auto bounded = padded(block, of_rank_one(0), base, 5);
  EXPECT_EQ(bounded[3], -4);
  EXPECT_EQ(bounded[5], -5);
  EXPECT_EQ(bounded[17], -5);
}

} // namespace troupe::models::rank_prefix_test
