// Values that are bf16 cross as their upper halves, whatever carries them, and
// are then what they were.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "actors/record/snapshot.hpp"
#include "actors/transport/envelope.hpp"
#include "actors/transport/outbox.hpp"
#include "actors/transport/rope.hpp"

namespace troupe::transport::bf16_wire_test {

namespace {

using messages::offer_made;

constexpr std::size_t halves = 0x1'0000;

/// Each there is, no numbers among them.
shared_values every_bf16() {
  std::vector<float> out;
  for (std::uint32_t x = 0; x < halves; ++x)
    out.push_back(from_bf16(static_cast<std::uint16_t>(x)));
  return rounded_to_bf16(share(std::move(out)));
}

offer_made offer_of(shared_values delta) {
  offer_made out;
  out.blocks.emplace_back().delta = std::move(delta);
  return out;
}

bool are_same(const shared_values& a, const shared_values& b) {
  return a->size() == b->size()
         && std::memcmp(a->data(), b->data(), a->size_bytes()) == 0;
}

buffer joined(const std::vector<strand>& parts) {
  buffer out;
  for (const auto& x : parts)
    out.insert(out.end(), x.bytes.begin(), x.bytes.end());
  return out;
}

errc refusal_of(std::span<const std::byte> payload) {
  const auto x = decode_payload<offer_made>(payload, {2, 1});
  return x ? errc{} : x.error().code;
}

} // namespace

TEST(bf16_wire, brings_each_half_back_as_it_was) {
  const auto sent = every_bf16();
  ASSERT_TRUE(sent.is_bf16());
  const auto frame = encode(offer_of(sent));
  EXPECT_EQ(frame.size(), encode(offer_of(share({}))).size() + 2 * halves);
  EXPECT_EQ(encoded_size(offer_of(sent)), frame.size());
  const auto back = decode(frame);
  ASSERT_TRUE(back) << back.error().context;
  const auto& delta = std::get<offer_made>(*back).blocks.at(0).delta;
  EXPECT_TRUE(delta.is_bf16());
  EXPECT_TRUE(are_same(delta, sent));
  EXPECT_EQ(encode(*back), frame);
}

// A count with its highest bit, then 1.0 and -2.5.
TEST(bf16_wire, is_of_these_bytes) {
  const auto some = rounded_to_bf16(share({1.f, -2.5f}));
  const buffer wanted{std::byte{2},    std::byte{0},    std::byte{0},
                      std::byte{0x80}, std::byte{0x80}, std::byte{0x3f},
                      std::byte{0x20}, std::byte{0xc0}};
  const auto found = encode_payload(messages::block_values{{}, some});
  EXPECT_EQ((buffer{found.begin() + 8, found.end()}), wanted);
}

// What nobody rounded goes as it always did, all zeros as well.
TEST(bf16_wire, is_for_what_was_rounded_alone) {
  const auto zeros = share(std::vector<float>(1000));
  EXPECT_EQ(encode(offer_of(zeros)).size(),
            encode(offer_of(share({}))).size() + 4000);
  const auto low =
    share(std::vector<float>(1000, std::bit_cast<float>(0x3f80'0001)));
  const auto back = decode(encode(offer_of(low)));
  ASSERT_TRUE(back);
  const auto& delta = std::get<offer_made>(*back).blocks.at(0).delta;
  EXPECT_TRUE(are_same(delta, low));
  EXPECT_FALSE(delta.is_bf16());
}

TEST(bf16_wire, refuses_what_is_cut_or_claims_more_than_is_there) {
  const auto whole =
    encode_payload(offer_of(rounded_to_bf16(share({1.f, 2.f, 3.f}))));
  EXPECT_EQ(refusal_of(whole), errc{});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(refusal_of(std::span{whole}.first(size)),
              errc::malformed_message);
  const std::uint32_t said = 3 | of_bf16;
  const auto bytes = std::as_bytes(std::span{&said, 1});
  const auto at =
    std::search(whole.begin(), whole.end(), bytes.begin(), bytes.end());
  ASSERT_NE(at, whole.end());
  for (const std::uint32_t lie : {2u | of_bf16, 11u | of_bf16, ~0u, 3u, 2u}) {
    auto lying = whole;
    std::memcpy(lying.data() + (at - whole.begin()), &lie, sizeof lie);
    EXPECT_EQ(refusal_of(lying), errc::malformed_message) << lie;
  }
}

// Where somebody goes on may be in the middle of a value.
TEST(bf16_wire, is_the_same_from_any_byte_on) {
  const offer_made some = offer_of(some_of(every_bf16(), {0x3f00, 900}));
  auto marked = some;
  marked.blocks[0].delta = rounded_to_bf16(some.blocks[0].delta);
  const auto whole = payload_rope(marked);
  const auto wanted = encode_payload(marked);
  EXPECT_LT(whole->own_bytes(), 1000u);
  ASSERT_EQ(whole->size(), wanted.size());
  EXPECT_EQ(joined(rope::parts(whole)), wanted);
  EXPECT_EQ(joined(frame_parts(marked)), encode(marked));
  for (std::size_t at = 0; at < wanted.size(); ++at)
    for (const std::size_t most : {1u, 2u, 7u, 4096u}) {
      const auto part = rope::part(whole, at, most);
      ASSERT_FALSE(part.bytes.empty());
      ASSERT_LE(part.bytes.size(), most);
      ASSERT_TRUE(std::ranges::equal(
        part.bytes, std::span{wanted}.subspan(at, part.bytes.size())));
    }
}

TEST(bf16_wire, is_held_by_who_goes_on_from_a_snapshot) {
  std::map<models::digest, shared_values> values;
  actors::packer pack{values};
  const std::vector<shared_values> wanted{rounded_to_bf16(share({1.f, 2.f})),
                                          share({3.f}), nullptr};
  pack(wanted);
  const auto bytes = pack.take();
  for (auto& [name, x] : values)
    x = share(x.copy()); // As a file has them.
  actors::unpacker unpack{bytes, values};
  std::vector<shared_values> found;
  unpack(found);
  ASSERT_TRUE(unpack.done());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].is_bf16());
  EXPECT_EQ(*found[0], (std::vector{1.f, 2.f}));
  EXPECT_FALSE(found[1].is_bf16());
  EXPECT_FALSE(found[2]);
}

} // namespace troupe::transport::bf16_wire_test
