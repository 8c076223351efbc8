#include "actors/transport/inbox.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

namespace troupe::transport {

namespace {

/// Counts bytes up to the first values.
struct up_to_values {
  std::size_t bytes = 0;
  bool is_there = false;

  void operator()(const void*, std::size_t size) {
    bytes += is_there ? 0 : size;
  }

  void operator()(const shared_values&) {
    is_there = true;
  }
};

template <class T>
std::size_t before_values(const T& x) {
  up_to_values count;
  writer write{count};
  std::apply([&](const auto&... field) { (write(field), ...); }, T::fields(x));
  return count.bytes;
}

messages::line_served one_served() {
  messages::line_served x;
  x.blocks.push_back({{}, share({})});
  return x;
}

messages::offer_made one_offered() {
  messages::offer_made x;
  x.blocks.emplace_back().delta = share({});
  return x;
}

/// Where a payload is to begin so that its first values lie well.
std::size_t lead_of(std::uint16_t kind) {
  static const auto served = before_values(one_served());
  static const auto offered = before_values(one_offered());
  constexpr auto to = landing_pool::alignment;
  const auto before = kind == messages::line_served::wire.kind  ? served
                      : kind == messages::offer_made::wire.kind ? offered
                                                                : 0;
  return (to - before % to) % to;
}

std::shared_ptr<whole_payload> make_payload(const beginning& x,
                                            landing_pool& where) {
  auto out = std::make_shared<whole_payload>();
  out->kind = x.kind;
  out->writer = {.version = x.version, .readable_since = x.readable_since};
  out->size = x.size;
  const auto lead = lead_of(x.kind);
  const auto place = where.take(x.size + lead);
  out->bytes = {place, place.get() + lead};
  return out;
}

auto wrong(const std::string& what) {
  return fail(errc::malformed_message, what);
}

} // namespace

result<arrivals> inbox::heard(const piece& x) {
  if (x.kind == piece_kind::began)
    return begin(x);
  if (x.kind == piece_kind::chunk)
    return append(x);
  if (x.kind == piece_kind::bundled)
    return unbundle(x);
  if (x.body.bytes.size() > options_.frame_bytes_max)
    return wrong("a frame of " + std::to_string(x.body.bytes.size())
                 + " bytes comes whole; up to "
                 + std::to_string(options_.frame_bytes_max) + " would do");
  arrivals out;
  small(out, x.channel, x.body.bytes);
  return out;
}

void inbox::small(arrivals& to, channel_id of,
                  std::span<const std::byte> bytes) const {
  if (is_too_much(bytes.size()))
    return leave_out(to, of);
  if (auto room = options_.room->count(bytes.size()))
    to.push_back(
      {of, frame{buffer{bytes.begin(), bytes.end()}, std::move(room)}});
}

// It is to be answered, though nothing of it is kept.
void inbox::leave_out(arrivals& to, channel_id of) const {
  if (auto room = options_.room->count(0))
    to.push_back({of, frame::left_out(std::move(room))});
}

result<arrivals> inbox::unbundle(const piece& x) const {
  const auto size = x.body.bytes.size();
  if (size > options_.frame_bytes_max || x.at > frames_per_bundle_max)
    return wrong("a bundle has " + std::to_string(x.at) + " frames in "
                 + std::to_string(size) + " bytes; up to "
                 + std::to_string(frames_per_bundle_max) + " in "
                 + std::to_string(options_.frame_bytes_max) + " would do");
  const auto found = frames_in(x);
  std::size_t read = 0;
  for (const auto& [channel, bytes] : found)
    read += bundle_head_size + bytes.size();
  if (read != size || found.size() != x.at || found.empty())
    return wrong("a bundle claims " + std::to_string(x.at)
                 + " frames, and has others");
  arrivals out;
  out.reserve(found.size());
  for (const auto& [channel, bytes] : found)
    small(out, channel, bytes);
  return out;
}

result<arrivals> inbox::begin(const piece& x) {
  const auto what = decode_record<beginning>(x.body.bytes);
  if (!what)
    return wrong("a transfer begins with what is no head of one");
  if (x.transfer == transfer_id{})
    return wrong("transfers are counted from 1");
  if (x.transfer == ended_) { // Our last word on it was lost.
    say_ended_ = true;
    return arrivals{};
  }
  if (open_ && open_->id == x.transfer) {
    open_->to_be_answered = open_->room != nullptr;
    return arrivals{};
  }
  if (open_ || x.transfer < ended_)
    return wrong("a transfer begins before the one before it has ended");
  const auto most = options_.bytes_max(what->kind);
  if (what->size == 0 || what->size > most) {
    refuse(x.transfer);
    return wrong("a message of kind " + std::to_string(what->kind) + " claims "
                 + std::to_string(what->size) + " bytes; up to "
                 + std::to_string(most) + " would do");
  }
  if (is_too_much(what->size)) {
    refuse(x.transfer);
    arrivals out;
    leave_out(out, x.channel);
    return out;
  }
  transfer next;
  next.id = x.transfer;
  next.channel = x.channel;
  next.what = *what;
  open_ = std::move(next);
  return arrivals{};
}

void inbox::refuse(transfer_id x) noexcept {
  ended_ = x;
  ended_refused_ = true;
  say_ended_ = true;
}

void inbox::allow(transfer& x) const {
  const auto left = x.what.size - x.have;
  x.until = x.have + std::min(left, options_.window_bytes);
  x.to_be_answered = true;
}

result<arrivals> inbox::append(const piece& x) {
  if (!open_ || x.transfer != open_->id || x.at != open_->have)
    return wrong("a chunk from byte " + std::to_string(x.at)
                 + " comes where another would do");
  auto& to = *open_;
  const auto bytes = x.body.bytes;
  if (bytes.empty() || bytes.size() > to.until - to.have)
    return wrong("a chunk of " + std::to_string(bytes.size())
                 + " bytes goes beyond the " + std::to_string(to.until)
                 + " that were allowed");
  std::memcpy(to.payload->bytes.get() + to.have, bytes.data(), bytes.size());
  to.have += bytes.size();
  if (to.have < to.what.size) {
    if (to.until - to.have <= options_.window_bytes / 2
        && to.until < to.what.size)
      allow(to);
    return arrivals{};
  }
  ended_ = to.id;
  ended_size_ = to.what.size;
  ended_refused_ = false;
  say_ended_ = true;
  auto whole = std::move(*std::exchange(open_, std::nullopt));
  return arrivals{
    {whole.channel, frame{std::move(whole.payload), std::move(whole.room)}}};
}

std::optional<piece> inbox::next() {
  if (std::exchange(say_ended_, false)) {
    if (ended_refused_)
      return make_piece(piece_kind::refused, {}, ended_);
    auto out = make_piece(piece_kind::reached, {}, ended_, ended_size_);
    out.body = body_of(allowance{ended_size_});
    return out;
  }
  if (!open_)
    return std::nullopt;
  if (!open_->room) {
    open_->room = options_.room->take(open_->what.size);
    if (!open_->room)
      return std::nullopt;
    open_->payload = make_payload(open_->what, *options_.landing);
    allow(*open_);
  }
  if (!std::exchange(open_->to_be_answered, false))
    return std::nullopt;
  auto out = make_piece(piece_kind::reached, {}, open_->id, open_->have);
  out.body = body_of(allowance{open_->until});
  return out;
}

void inbox::forget() {
  open_.reset();
  ended_ = {};
  say_ended_ = false;
  has_session_ = false;
}

void inbox::begin_again() {
  say_ended_ = false;
  if (open_)
    open_->to_be_answered = false;
}

} // namespace troupe::transport
