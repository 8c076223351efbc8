#include "actors/transport/envelope.hpp"

#include <cstring>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "core/random.hpp"
#include "tests/support/wire_examples.hpp"

namespace troupe::transport {
namespace {

using testing::HasSubstr;

buffer beat_frame() {
  return encode(messages::beat{{0x0102030405060708}, {9}}, 0x0a0b0c0d);
}

/// Makes length and checksum agree with what stands in the frame.
buffer resealed(buffer frame) {
  const auto length = static_cast<std::uint32_t>(frame.size() - envelope_size);
  std::memcpy(frame.data() + 12, &length, sizeof length);
  const std::span all{frame};
  const auto crc = crc32c(all.subspan(envelope_size), crc32c(all.first(20)));
  std::memcpy(frame.data() + 20, &crc, sizeof crc);
  return frame;
}

std::string problem_of(const buffer& frame) {
  const auto x = decode(frame);
  if (x)
    return "none";
  EXPECT_EQ(x.error().code, errc::malformed_message);
  return x.error().context;
}

TEST(crc32c, has_the_check_value_of_its_definition) {
  constexpr std::string_view text = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span{text})), 0xe3069283u);
}

TEST(crc32c, has_the_check_value_with_tables_too) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32c_by_tables(std::as_bytes(std::span{text})), 0xe3069283u);
}

TEST(crc32c, is_the_same_with_and_without_the_instruction) {
  random_stream draws{3};
  std::vector<std::byte> all(3 * 12'288 + 100);
  for (auto& x : all)
    x = static_cast<std::byte>(draws.below(256));
  // Of any length, from any place, after anything.
  const auto compare = [&](std::size_t from, std::size_t size) {
    const auto some = std::span{all}.subspan(from, size);
    const auto before = static_cast<std::uint32_t>(draws.below(1u << 31));
    EXPECT_EQ(crc32c(some, before), crc32c_by_tables(some, before));
  };
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t size = 0; size < 91; ++size)
      compare(from, size);
    // And around those from which on it goes by three lanes.
    for (const std::size_t lanes : {1, 2, 3})
      for (std::size_t more = 0; more < 20; ++more)
        compare(from, lanes * 12'288 - 10 + more);
  }
}

TEST(crc32c, can_be_continued_where_it_ended) {
  constexpr std::string_view text = "123456789";
  const auto all = std::as_bytes(std::span{text});
  for (std::size_t i = 0; i <= all.size(); ++i)
    EXPECT_EQ(crc32c(all.subspan(i), crc32c(all.first(i))), crc32c(all));
}

TEST(envelope, stands_where_the_page_about_it_says) {
  const auto frame = beat_frame();
  ASSERT_EQ(frame.size(), envelope_size + 16);
  const unsigned char expected[]{'T', 'R', 'P',  '1',  4,    0,   1,
                                 1,   0,   0,    0,    0,    16,  0,
                                 0,   0,   0x0d, 0x0c, 0x0b, 0x0a};
  EXPECT_EQ(std::memcmp(frame.data(), expected, sizeof expected), 0);
  EXPECT_EQ(resealed(frame), frame);
}

TEST(envelope, opens_to_what_was_written) {
  const auto x = open_envelope(beat_frame(), 16);
  ASSERT_TRUE(x);
  EXPECT_EQ(x->kind, 4);
  EXPECT_EQ(x->writer.version, 1);
  EXPECT_EQ(x->writer.readable_since, 1);
  EXPECT_EQ(x->payload_size, 16u);
  EXPECT_EQ(x->correlation, 0x0a0b0c0du);
}

TEST(envelope, has_the_size_that_is_foretold) {
  for (const auto& x : test::example_messages())
    EXPECT_EQ(encoded_size(x.message), encode(x.message).size()) << x.name;
}

TEST(envelope, refuses_every_flipped_bit) {
  for (const auto& x : test::example_messages()) {
    auto frame = encode(x.message);
    for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
      const auto mask = std::byte{1} << (bit % 8);
      frame[bit / 8] ^= mask;
      ASSERT_FALSE(decode(frame)) << "bit " << bit << " of " << x.name;
      frame[bit / 8] ^= mask;
    }
    ASSERT_TRUE(decode(frame));
  }
}

TEST(envelope, refuses_a_frame_that_is_cut_or_has_a_tail) {
  for (const auto& x : test::example_messages()) {
    auto frame = encode(x.message);
    for (std::size_t size = 0; size < frame.size(); ++size)
      ASSERT_FALSE(decode(std::span{frame}.first(size))) << size;
    frame.push_back({});
    ASSERT_FALSE(decode(frame));
  }
}

TEST(envelope, says_what_is_wrong) {
  auto frame = beat_frame();
  EXPECT_EQ(problem_of({}), "a frame of 0 bytes has no envelope");
  frame[0] = std::byte{'t'};
  EXPECT_EQ(problem_of(frame), "the frame does not begin with TRP1");
  frame = beat_frame();
  frame.pop_back();
  EXPECT_EQ(problem_of(frame), "the envelope claims 16 bytes, there are 15");
  frame = beat_frame();
  frame.back() ^= std::byte{1};
  EXPECT_EQ(problem_of(frame), "the checksum does not agree");
}

// Or a client could say something in them.
TEST(envelope, refuses_flags_and_reserved_bytes_that_are_not_zero) {
  for (const std::size_t at : {8, 9, 10, 11}) {
    auto frame = encode(messages::any_message{messages::beat{{1}, {2}}});
    frame[at] = std::byte{1};
    // With a checksum that agrees.
    const auto sum = crc32c(std::span{frame}.subspan(envelope_size),
                            crc32c(std::span{frame}.first(20)));
    std::memcpy(frame.data() + 20, &sum, sizeof sum);
    EXPECT_EQ(problem_of(frame),
              "the frame has flags that this version does not know");
  }
}

TEST(envelope, refuses_a_claim_above_the_limit_before_it_looks_at_the_rest) {
  auto frame = beat_frame();
  const auto claim = static_cast<std::uint32_t>(limits::payload_bytes_max + 1);
  std::memcpy(frame.data() + 12, &claim, sizeof claim);
  EXPECT_EQ(problem_of(frame),
            "a payload of 1073741825 bytes is above the limit of "
            "1073741824");
}

TEST(envelope, refuses_a_kind_that_nobody_has) {
  auto frame = beat_frame();
  frame[4] = std::byte{0xff};
  frame[5] = std::byte{0x7f};
  EXPECT_EQ(problem_of(resealed(frame)), "no message has kind 32767");
}

TEST(envelope, refuses_a_payload_with_a_tail_of_our_own_version) {
  auto frame = beat_frame();
  frame.push_back({});
  EXPECT_EQ(problem_of(resealed(frame)), "the payload has a tail");
}

TEST(envelope, refuses_a_version_that_is_not_one) {
  auto frame = beat_frame();
  frame[6] = std::byte{0};
  EXPECT_THAT(problem_of(resealed(frame)), HasSubstr("claims no version"));
}

} // namespace
} // namespace troupe::transport
