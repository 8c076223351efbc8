#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "tests/support/link_ends.hpp"

// Small frames that wait for their turn cross in one piece.

namespace troupe::transport::link_bundles_test {
namespace {

using namespace ends;

/// Two ends that have said `opened`.
struct opened_link {
  opened_link() {
    a.link.connected(1);
    settle(a, b);
  }

  end a{options_of(1, 100)};
  end b{options_of(2, 100)};
};

/// What an end would be told by one that speaks no more than this.
piece opened_by(std::uint16_t protocol) {
  auto x = make_piece(piece_kind::opened, {}, {});
  x.connection = 1;
  x.body = body_of(opening{.protocol = protocol, .instance = 7});
  return x;
}

std::vector<piece_kind> kinds_said(end& x) {
  std::vector<piece_kind> out;
  while (const auto next = x.link.next())
    out.push_back(next->kind);
  return out;
}

TEST(bundles, hold_what_waits_in_order_and_with_its_channels) {
  opened_link x;
  for (std::uint64_t i = 1; i <= 20; ++i)
    x.a.link.say({i}, small(i));
  int pieces = 0;
  while (send(x.a))
    ++pieces;
  while (deliver(x.a, x.b)) {}
  EXPECT_LT(pieces, 20);
  ASSERT_EQ(x.b.heard.size(), 20U);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    EXPECT_EQ(x.b.heard[i - 1].channel, channel_id{i});
    EXPECT_EQ(bytes_of(x.b.heard[i - 1]), encode(small(i)));
  }
}

TEST(bundles, are_no_larger_than_a_frame_may_be_and_never_of_one) {
  opened_link x;
  for (std::uint64_t i = 1; i <= 20; ++i)
    x.a.link.say({i}, small(i));
  std::uint64_t frames = 0;
  while (const auto next = x.a.link.next()) {
    EXPECT_LE(next->body.bytes.size(), 256U); // As `options_of` has it.
    EXPECT_EQ(next->kind == piece_kind::bundled, frames_claimed(*next) > 1);
    frames += frames_claimed(*next);
  }
  EXPECT_EQ(frames, 20U);
}

TEST(bundles, have_so_many_frames_at_most) {
  auto wide = options_of(1, 100);
  wide.out.frame_bytes_max = 1 << 20;
  end a{std::move(wide)};
  end b{options_of(2, 100)};
  a.link.connected(1);
  settle(a, b);
  for (std::uint64_t i = 1; i <= 100; ++i)
    a.link.say({i}, small(i));
  EXPECT_EQ(a.link.next()->at, frames_per_bundle_max);
  EXPECT_EQ(a.link.next()->at, 100 - frames_per_bundle_max);
  EXPECT_FALSE(a.link.next());
}

TEST(bundles, are_for_those_who_know_them) {
  for (const bool dials : {true, false}) {
    end old{options_of(1, 100)};
    if (dials)
      old.link.connected(1);
    EXPECT_TRUE(old.link.heard(opened_by(1)));
    old.link.say({3}, small(1));
    old.link.say({4}, small(2));
    EXPECT_EQ(kinds_said(old),
              (std::vector{piece_kind::opened, piece_kind::framed,
                           piece_kind::framed}));
  }
}

TEST(bundles, who_listens_answers_with_what_both_speak) {
  const auto answer = [](std::uint16_t theirs) {
    end x{options_of(1, 100)};
    EXPECT_TRUE(x.link.heard(opened_by(theirs)));
    return decode_record<opening>(x.link.next()->body.bytes)->protocol;
  };
  EXPECT_EQ(answer(1), 1U);
  EXPECT_EQ(answer(2), 2U);
  EXPECT_EQ(answer(3), 3U);
  EXPECT_EQ(answer(9), 3U);
  end x{options_of(1, 100)};
  EXPECT_FALSE(x.link.heard(opened_by(0)));
}

// Before both have said `opened` nothing is.
TEST(pieces_in_one_part, are_for_those_who_know_them) {
  for (const std::uint16_t theirs : {1, 2, 3}) {
    end x{options_of(1, 100)};
    EXPECT_FALSE(x.link.may_join_parts());
    EXPECT_TRUE(x.link.heard(opened_by(theirs)));
    const auto next = x.link.next();
    EXPECT_EQ(next->kind, piece_kind::opened);
    EXPECT_EQ(x.link.may_join_parts(), theirs == 3);
    x.link.lost();
    EXPECT_FALSE(x.link.may_join_parts());
  }
}

/// Whether a bundle of two frames that was changed so is refused, whole.
bool refuses(const std::function<void(buffer&, piece&)>& change) {
  opened_link x;
  x.a.link.say({3}, small(1));
  x.a.link.say({4}, small(2));
  auto next = *x.a.link.next();
  EXPECT_EQ(next.kind, piece_kind::bundled);
  buffer body{next.body.bytes.begin(), next.body.bytes.end()};
  change(body, next);
  next.body = {body, nullptr};
  return !x.b.link.heard(next);
}

void set_size(buffer& body, std::uint32_t x) {
  std::memcpy(body.data() + 4, &x, sizeof x);
}

TEST(bundles, are_refused_whole_where_they_are_not_what_they_claim) {
  EXPECT_FALSE(refuses([](buffer&, piece&) {}));
  EXPECT_TRUE(refuses([](buffer&, piece& x) { x.at = 1; }));
  EXPECT_TRUE(refuses([](buffer&, piece& x) { x.at = 3; }));
  EXPECT_TRUE(refuses([](buffer&, piece& x) { x.at = 1'000'000'000; }));
  EXPECT_TRUE(refuses([](buffer& body, piece&) { body.pop_back(); }));
  EXPECT_TRUE(refuses([](buffer& body, piece&) { body.push_back({}); }));
  EXPECT_TRUE(refuses([](buffer& body, piece&) { set_size(body, 0); }));
  EXPECT_TRUE(
    refuses([](buffer& body, piece&) { set_size(body, 0xffffffff); }));
  EXPECT_TRUE(refuses([](buffer& body, piece& x) {
    body.clear();
    x.at = 0;
  }));
}

} // namespace
} // namespace troupe::transport::link_bundles_test
