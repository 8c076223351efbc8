#include "tests/support/sim/link_laws.hpp"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

namespace troupe::test {

using transport::outbox;

void link_laws::took(transport::channel_id to, const messages::any_message& x,
                     outbox::taken how) {
  if (how == outbox::taken::no_room)
    return;
  auto bytes = transport::encode(x);
  if (bytes.size() > small_bytes_max_) {
    if (how == outbox::taken::taken)
      large_.push_back({to, std::move(bytes)});
    return;
  }
  replaced_ += how == outbox::taken::already;
  waiting_.emplace(to, std::move(bytes));
}

void link_laws::left(const transport::piece& x) {
  if (x.kind == transport::piece_kind::framed)
    left(x.channel, x.body.bytes);
  if (x.kind != transport::piece_kind::bundled)
    return;
  EXPECT_GT(x.at, 1U) << "one frame is no bundle";
  auto rest = x.body.bytes;
  for (std::uint64_t i = 0; i < x.at; ++i) {
    std::array<std::uint32_t, 2> head{};
    ASSERT_GE(rest.size(), sizeof head);
    std::memcpy(head.data(), rest.data(), sizeof head);
    ASSERT_GE(rest.size() - sizeof head, head[1]);
    left({head[0]}, rest.subspan(sizeof head, head[1]));
    rest = rest.subspan(sizeof head + head[1]);
  }
  EXPECT_TRUE(rest.empty());
}

void link_laws::left(transport::channel_id to,
                     std::span<const std::byte> frame) {
  const auto found = waiting_.find({to, {frame.begin(), frame.end()}});
  EXPECT_TRUE(found != waiting_.end())
    << "a small frame goes out that nobody said, or twice";
  if (found != waiting_.end())
    waiting_.erase(found);
}

void link_laws::has_nothing_to_say() {
  EXPECT_EQ(waiting_.size(), replaced_) << "a small frame is held back or lost";
  abandoned();
}

void link_laws::abandoned() {
  waiting_.clear();
  replaced_ = 0;
}

void link_laws::heard(const transport::arrival& x) {
  const auto message = x.what.open();
  EXPECT_TRUE(message) << "what comes over a link does not decode: "
                       << (message ? "" : message.error().context);
  if (!message)
    return;
  const auto bytes = transport::encode(**message);
  if (bytes.size() <= small_bytes_max_)
    return;
  const auto is_at = [&](std::size_t i) {
    return i < large_.size() && large_[i].channel == x.channel
           && large_[i].bytes == bytes;
  };
  EXPECT_TRUE(is_at(arrived_))
    << "what comes over a link in pieces is not what was said next";
  ++arrived_;
}

void link_laws::met_another() {
  abandoned();
  large_.resize(arrived_);
}

void link_laws::check_end() const {
  EXPECT_EQ(arrived_, large_.size()) << "what a link took never came";
}

} // namespace troupe::test
