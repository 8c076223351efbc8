#include "core/bf16.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace troupe::bf16_test {

namespace {

std::uint16_t rounded(std::uint32_t bits) {
  return to_bf16(std::bit_cast<float>(bits));
}

} // namespace

TEST(bf16, is_the_nearest_and_ties_are_even) {
  EXPECT_EQ(to_bf16(1.f), 0x3f80);
  EXPECT_EQ(rounded(0x3f80'7fff), 0x3f80);
  EXPECT_EQ(rounded(0x3f80'8000), 0x3f80) << "a tie, and even";
  EXPECT_EQ(rounded(0x3f80'8001), 0x3f81);
  EXPECT_EQ(rounded(0x3f81'8000), 0x3f82) << "a tie, and odd";
  EXPECT_EQ(rounded(0xbf81'8000), 0xbf82) << "away from zero below it, too";
  EXPECT_EQ(rounded(0x0000'8000), 0x0000) << "a subnormal tie, and even";
  EXPECT_EQ(rounded(0x0000'8001), 0x0001) << "a subnormal";
  EXPECT_EQ(rounded(0x007f'8000), 0x0080) << "the least normal";
  EXPECT_EQ(rounded(0x8000'0000), 0x8000) << "zeros have two signs";
}

TEST(bf16, keeps_what_is_not_finite_and_no_number) {
  EXPECT_EQ(rounded(0x7f7f'ffff), 0x7f80) << "above the largest";
  EXPECT_EQ(to_bf16(-std::numeric_limits<float>::infinity()), 0xff80);
  EXPECT_TRUE(std::isnan(from_bf16(rounded(0x7f80'0001))));
  EXPECT_TRUE(std::isnan(from_bf16(rounded(0xffff'ffff))));
}

TEST(bf16, is_what_it_was_for_each_of_sixteen_bits) {
  for (std::uint32_t x = 0; x < 0x1'0000; ++x) {
    const auto wide = from_bf16(static_cast<std::uint16_t>(x));
    if (!std::isnan(wide)) {
      EXPECT_EQ(to_bf16(wide), x);
    }
  }
}

TEST(bf16, values_that_are_so_already_stay_where_they_are) {
  const auto whole = share({1.f, -0.5f, 0.f});
  const auto same = rounded_to_bf16(whole);
  EXPECT_EQ(same, whole);
  EXPECT_TRUE(same.is_bf16());
  EXPECT_FALSE(whole.is_bf16()) << "nobody has looked";
  const auto fine = share({1.f, 1.01f});
  const auto made = rounded_to_bf16(fine);
  EXPECT_EQ(*made, (std::vector{1.f, 1.0078125f}));
  EXPECT_TRUE(made.is_bf16());
  EXPECT_EQ(*fine, (std::vector{1.f, 1.01f}));
  EXPECT_EQ(rounded_to_bf16(made), made);
  EXPECT_FALSE(rounded_to_bf16(nullptr));
}

} // namespace troupe::bf16_test
