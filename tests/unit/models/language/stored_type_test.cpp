#include "models/language/stored_type.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::models {

namespace {

constexpr std::array every_type{
  stored_type::f32,  stored_type::f16,  stored_type::bf16, stored_type::q8_0,
  stored_type::q4_0, stored_type::q4_1, stored_type::q5_0, stored_type::q5_1,
  stored_type::q4_k, stored_type::q5_k, stored_type::q6_k};

std::optional<stored_type> type_named(std::string_view name) {
  for (const auto x : every_type)
    if (facts_of(x).name == name)
      return x;
  return std::nullopt;
}

std::vector<std::byte> bytes_in(const std::string& hex) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    all.push_back(
      static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return all;
}

std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

} // namespace

TEST(stored_type, is_as_the_reference_has_it_to_the_bit) {
  std::ifstream in{std::filesystem::path{TROUPE_SOURCE_DIR}
                   / "tests/golden/language/dequantise.txt"};
  std::string name, from, to;
  std::size_t seen = 0;
  while (in >> name >> from >> to) {
    const auto type = type_named(name);
    ASSERT_TRUE(type) << name;
    const auto stored = bytes_in(from), wanted = bytes_in(to);
    std::vector<float> values(wanted.size() / sizeof(float));
    ASSERT_EQ(bytes_of(*type, values.size()), stored.size()) << name;
    dequantise(*type, stored, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      float x = 0;
      std::memcpy(&x, wanted.data() + i * sizeof x, sizeof x);
      ASSERT_EQ(bits_of(values[i]), bits_of(x)) << name << ", value " << i;
    }
    ++seen;
  }
  EXPECT_EQ(seen, every_type.size());
}

TEST(stored_type, is_read_wherever_it_begins) {
  const std::vector<float> values{1, -2, 3.5};
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::vector<std::byte> room(shift + 12);
    std::memcpy(room.data() + shift, values.data(), 12);
    std::vector<float> read(3);
    dequantise(stored_type::f32, std::span{room}.subspan(shift), read);
    EXPECT_EQ(read, values);
  }
  dequantise(stored_type::q6_k, {}, {}); // A tensor may have no values.
}

TEST(stored_type, q8_0_is_scale_times_value) {
  std::vector<std::byte> block(34);
  block[1] = std::byte{0x38}; // 0.5
  block[2] = std::byte{6};
  block[3] = std::byte{0x80};
  std::vector<float> values(32);
  dequantise(stored_type::q8_0, block, values);
  EXPECT_EQ(values[0], 3.f);
  EXPECT_EQ(values[1], -64.f);
  EXPECT_EQ(values[2], 0.f);
}

TEST(stored_type, q4_k_has_scales_of_eight_parts) {
  // d = 1, least = 1. Part 0 has scale 5 and least 7, part 4 the scale 0x21 and
  // the least 0x12: their high bits stand above those of part 0.
  std::vector<std::byte> block(144);
  block[1] = block[3] = std::byte{0x3c};
  block[4] = std::byte{5 | 0x80};
  block[8] = std::byte{7 | 0x40};
  block[12] = std::byte{0x21};
  block[16] = std::byte{3};           // Of part 0, value 0.
  block[16 + 64] = std::byte{0x20};   // Of part 4 and 5, values 0.
  block[16 + 64 + 1] = std::byte{10}; // Of part 4, value 1.
  std::vector<float> values(256);
  dequantise(stored_type::q4_k, block, values);
  EXPECT_EQ(values[0], 5 * 3 - 7);
  EXPECT_EQ(values[1], -7);
  EXPECT_EQ(values[128], -0x12);
  EXPECT_EQ(values[129], 0x21 * 10 - 0x12);
  EXPECT_EQ(values[160], 0) << "part 5 has neither";
}

TEST(stored_type, halves_have_small_numbers_and_none) {
  EXPECT_EQ(from_f16(0x3c00), 1.f);
  EXPECT_EQ(from_f16(0xc500), -5.f);
  EXPECT_EQ(from_f16(0x7bff), 65504.f);
  EXPECT_EQ(from_f16(0x0001), std::ldexp(1.f, -24));
  EXPECT_EQ(from_f16(0x83ff), -std::ldexp(1023.f, -24));
  EXPECT_EQ(from_f16(0x0400), std::ldexp(1.f, -14));
  EXPECT_TRUE(std::signbit(from_f16(0x8000)));
  EXPECT_EQ(from_f16(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(from_f16(0x7c01)));
}

} // namespace troupe::models
