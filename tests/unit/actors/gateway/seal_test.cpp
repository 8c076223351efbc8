#include "actors/gateway/seal.hpp"

#include <cstddef>

#include <gtest/gtest.h>

#include "actors/transport/codec.hpp"

namespace troupe::actors {

namespace {

const seal ours{seal::key{1, 2, 3}};

messages::ticket signed_by(const seal& x) {
  messages::ticket pass{.visit = {{3}, {14}},
                        .index = 15,
                        .seed = 92,
                        .role = 1,
                        .progress = 0.25,
                        .round = {6},
                        .cut = {5},
                        .expires_ns = 358};
  x.sign(pass);
  return pass;
}

} // namespace

TEST(seal, knows_what_it_signed_also_after_a_restart) {
  EXPECT_TRUE(ours.is_ours(signed_by(ours)));
  EXPECT_TRUE((seal{seal::key{1, 2, 3}}.is_ours(signed_by(ours))));
}

TEST(seal, a_ticket_without_a_signature_is_not_ours) {
  EXPECT_FALSE(ours.is_ours({}));
}

TEST(seal, no_bit_of_a_ticket_can_be_changed) {
  const auto bytes = transport::encode_payload(signed_by(ours));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto changed = bytes;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto pass = transport::decode_record<messages::ticket>(changed);
    ASSERT_TRUE(pass);
    EXPECT_FALSE(ours.is_ours(*pass)) << "bit " << bit;
  }
}

TEST(seal, no_bit_of_the_key_can_be_another) {
  const auto pass = signed_by(ours);
  for (std::size_t bit = 0; bit < 256; ++bit) {
    seal::key key{1, 2, 3};
    key[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    EXPECT_FALSE(seal{key}.is_ours(pass)) << "bit " << bit;
  }
}

TEST(seal, signing_again_changes_nothing) {
  auto pass = signed_by(ours);
  const auto before = pass;
  ours.sign(pass);
  EXPECT_EQ(pass, before);
}

TEST(seal, a_ticket_of_another_run_is_not_ours_though_it_has_our_key) {
  const seal::key key{1, 2, 3};
  const seal one{key, {7}};
  EXPECT_TRUE(one.is_ours(signed_by(one)));
  EXPECT_FALSE((seal{key, {8}}.is_ours(signed_by(one))));
  EXPECT_FALSE(ours.is_ours(signed_by(one)));
}

TEST(seals, hold_each_key_of_before_until_its_moment_and_not_longer) {
  seals testee;
  EXPECT_EQ(testee.judge(signed_by(ours), 0), worth::none) << "it has no key";
  testee.begin({1, 2, 3});
  const auto first = signed_by(ours);
  EXPECT_EQ(testee.judge(first, 0), worth::good);
  testee.use({.now = {4}, .before = {{{1, 2, 3}, 1000}}});
  testee.begin({1, 2, 3}); // As a node does that begins again.
  auto second = first;
  testee.sign(second);
  EXPECT_NE(second.mac, first.mac);
  testee.use({.now = {5}, .before = {{{4}, 500}, {{1, 2, 3}, 1000}}});
  auto third = first;
  testee.sign(third);
  auto made_up = first;
  made_up.mac.front() ^= 1;
  for (const std::int64_t now : {0, 499, 500, 999, 1000, 2000}) {
    EXPECT_EQ(testee.judge(first, now), now < 1000 ? worth::good : worth::over);
    EXPECT_EQ(testee.judge(second, now), now < 500 ? worth::good : worth::over);
    EXPECT_EQ(testee.judge(third, now), worth::good);
    EXPECT_EQ(testee.judge(made_up, now), worth::none);
  }
}

} // namespace troupe::actors
