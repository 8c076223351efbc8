#include "tests/support/sim/link_laws.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <gtest/gtest.h>

namespace troupe::test {

using transport::outbox;

namespace {

/// Answers to visits of this client before this one are of no use, once it is
/// said.
std::optional<visit_id> first_of_use(const messages::any_message& any) {
  if (const auto* x = std::get_if<messages::invited>(&any))
    return x->pass.visit;
  if (const auto* x = std::get_if<messages::line_served>(&any))
    return x->visit;
  if (const auto* x = std::get_if<messages::visit_ended>(&any))
    return visit_id{x->visit.client, {x->visit.number.value + 1}};
  return std::nullopt;
}

} // namespace

std::size_t link_laws::took(transport::channel_id to,
                            const messages::any_message& x, outbox::taken how) {
  const auto ended = ended_by(x);
  if (how == outbox::taken::no_room)
    return ended;
  auto bytes = transport::encode(x);
  if (bytes.size() > small_bytes_max_) {
    const auto* answer = std::get_if<messages::line_served>(&x);
    if (how == outbox::taken::taken)
      large_.push_back(
        {to, std::move(bytes), answer ? answer->visit : visit_id{}});
    return ended;
  }
  replaced_ += how == outbox::taken::already;
  waiting_.emplace(to, std::move(bytes));
  return ended;
}

std::size_t link_laws::ended_by(const messages::any_message& any) {
  const auto first = first_of_use(any);
  std::size_t out = 0;
  for (auto i = begun_; first && i < large_.size(); ++i) {
    auto& x = large_[i];
    if (x.is_over || x.answers.client != first->client
        || x.answers.number == visit_number{}
        || x.answers.number >= first->number)
      continue;
    x.is_over = true;
    ++out;
  }
  return out;
}

// Over each connection once: the first time counts.
void link_laws::began(transport::transfer_id x) {
  if (x <= last_)
    return;
  last_ = x;
  while (begun_ < large_.size() && large_[begun_].is_over)
    ++begun_;
  ASSERT_LT(begun_, large_.size()) << "what begins was not said, or is over";
  ++begun_;
}

void link_laws::left(const transport::piece& x) {
  if (x.kind == transport::piece_kind::began)
    began(x.transfer);
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
  while (arrived_ < large_.size() && large_[arrived_].is_over)
    ++arrived_;
  EXPECT_TRUE(is_at(arrived_))
    << "what comes over a link in pieces is not what was said next";
  ++arrived_;
}

void link_laws::met_another() {
  abandoned();
  large_.resize(arrived_);
  begun_ = arrived_;
}

void link_laws::check_end() const {
  const auto lacks =
    std::count_if(large_.begin() + static_cast<std::ptrdiff_t>(arrived_),
                  large_.end(), [](const large& x) { return !x.is_over; });
  EXPECT_EQ(lacks, 0) << "what a link took never came";
}

} // namespace troupe::test
