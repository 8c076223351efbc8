#include "actors/transport/outbox.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include "actors/transport/envelope.hpp"

namespace troupe::transport {

outbox::subject outbox::about(channel_id to, const messages::any_message& any) {
  subject out{.kind = 0, .channel = to, .visit = {}, .line = {}, .leg = 0};
  std::visit(
    [&](const auto& x) {
      out.kind = x.wire.kind;
      if constexpr (requires { x.visit; })
        out.visit = x.visit;
      else if constexpr (requires { x.pass.visit; })
        out.visit = x.pass.visit;
      if constexpr (requires { x.line; })
        out.line = x.line;
      if constexpr (requires { x.leg; })
        out.leg = x.leg;
      // One answer may be of many messages, each of other clients.
      if constexpr (std::is_same_v<std::decay_t<decltype(x)>,
                                   messages::scores_told>)
        out.visit = {x.scores.empty() ? client_id{} : x.scores.front().client,
                     {x.question}};
    },
    any);
  return out;
}

bool outbox::has_room(std::size_t bytes) const noexcept {
  return bytes_ + bytes <= options_.queued_bytes_max;
}

outbox::taken outbox::add(channel_id to, const messages::any_message& any) {
  const auto what = about(to, any);
  drop_answers(what);
  if (encoded_size(any) <= options_.frame_bytes_max)
    return add_small(what, any);
  if (queued_.contains(what))
    return taken::already;
  large x;
  x.id = troupe::next(last_);
  x.about = what;
  x.payload = payload_rope(any);
  if (!has_room(x.payload->own_bytes()))
    return taken::no_room;
  std::visit(
    [&](const auto& y) {
      x.version = y.wire.current();
      x.readable_since = y.wire.readable_since;
    },
    any);
  last_ = x.id;
  bytes_ += x.payload->own_bytes();
  queued_.insert(what);
  large_.push_back(std::move(x));
  return taken::taken;
}

// A client has one visit at a time, so that what waits for a slow reader is
// bounded. What has begun comes to its end: the other end takes no other
// before.
void outbox::drop_answers(const subject& since) {
  const bool ends = since.kind == messages::visit_ended::wire.kind;
  if (!ends && since.kind != messages::invited::wire.kind
      && since.kind != messages::line_served::wire.kind)
    return;
  const auto of_no_use = [&](const large& x) {
    return !x.has_begun && x.about.kind == messages::line_served::wire.kind
           && x.about.visit.client == since.visit.client
           && (x.about.visit.number < since.visit.number
               || (ends && x.about.visit == since.visit));
  };
  for (auto x = large_.begin(); x != large_.end();) {
    const auto it = x++;
    if (of_no_use(*it))
      drop(it);
  }
}

outbox::taken outbox::add_small(const subject& what,
                                const messages::any_message& any) {
  auto bytes = encode(any);
  const auto found = waiting_.find(what);
  const auto known = found == waiting_.end() ? 0 : found->second->bytes.size();
  if (!has_room(bytes.size() - std::min(known, bytes.size())))
    return taken::no_room;
  bytes_ = bytes_ + bytes.size() - known;
  if (found != waiting_.end()) {
    found->second->bytes = std::move(bytes);
    return taken::already;
  }
  small_.push_back({what, std::move(bytes)});
  waiting_.emplace(what, &small_.back());
  return taken::taken;
}

piece outbox::beginning_of(const large& x) {
  auto out = make_piece(piece_kind::began, x.about.channel, x.id);
  out.body = body_of(beginning{.kind = x.about.kind,
                               .version = x.version,
                               .readable_since = x.readable_since,
                               .correlation = 0,
                               .size = x.payload->size()});
  return out;
}

outbox::small outbox::take_small() {
  auto x = std::move(small_.front());
  small_.pop_front();
  waiting_.erase(x.about);
  bytes_ -= x.bytes.size();
  return x;
}

bool outbox::fits_behind(std::size_t bytes) const {
  return !small_.empty()
         && bytes + bundle_head_size + small_.front().bytes.size()
              <= options_.frame_bytes_max;
}

piece outbox::next_small() {
  auto first = take_small();
  if (bundles_ && fits_behind(bundle_head_size + first.bytes.size()))
    return bundle_from(first);
  auto out = make_piece(piece_kind::framed, first.about.channel, {});
  const auto bytes = std::make_shared<const buffer>(std::move(first.bytes));
  out.body = {*bytes, bytes};
  return out;
}

// What a piece costs is paid once for all that wait.
piece outbox::bundle_from(const small& first) {
  buffer body;
  std::uint64_t count = 0;
  const auto append = [&](const small& x) {
    const std::array<std::uint32_t, 2> head{
      static_cast<std::uint32_t>(x.about.channel.value),
      static_cast<std::uint32_t>(x.bytes.size())};
    const auto bytes = std::as_bytes(std::span{head});
    body.insert(body.end(), bytes.begin(), bytes.end());
    body.insert(body.end(), x.bytes.begin(), x.bytes.end());
    ++count;
  };
  append(first);
  while (count < frames_per_bundle_max && fits_behind(body.size()))
    append(take_small());
  auto out = make_piece(piece_kind::bundled, {}, {}, count);
  const auto bytes = std::make_shared<const buffer>(std::move(body));
  out.body = {*bytes, bytes};
  return out;
}

std::optional<piece> outbox::next() {
  if (!small_.empty())
    return next_small();
  if (large_.empty())
    return std::nullopt;
  auto& x = large_.front();
  if (!std::exchange(x.announced, true)) {
    x.has_begun = true;
    return beginning_of(x);
  }
  if (x.sent >= x.until)
    return std::nullopt;
  const auto most =
    std::min<std::uint64_t>(options_.chunk_bytes, x.until - x.sent);
  auto out = make_piece(piece_kind::chunk, x.about.channel, x.id, x.sent);
  out.body = rope::part(x.payload, x.sent, most);
  x.sent += out.body.bytes.size();
  return out;
}

void outbox::reached(transfer_id what, std::uint64_t at, std::uint64_t until) {
  if (large_.empty() || large_.front().id != what)
    return;
  auto& x = large_.front();
  const auto size = x.payload->size();
  if (!x.announced || at > size || until > size || until < at)
    return;
  if (at == size)
    return drop_first();
  // The first answer on a connection says where to go on.
  if (x.until == 0)
    x.sent = at;
  x.until = std::max(x.until, until);
}

void outbox::refused(transfer_id what) {
  if (!large_.empty() && large_.front().id == what)
    drop_first();
}

void outbox::drop(std::list<large>::iterator x) {
  bytes_ -= x->payload->own_bytes();
  queued_.erase(x->about);
  large_.erase(x);
}

void outbox::drop_first() {
  drop(large_.begin());
}

void outbox::drop_small() {
  for (const auto& x : small_)
    bytes_ -= x.bytes.size();
  small_.clear();
  waiting_.clear();
}

void outbox::forget() {
  drop_small();
  while (!large_.empty())
    drop_first();
}

void outbox::begin_again() {
  if (large_.empty())
    return;
  auto& x = large_.front();
  x.announced = false;
  x.sent = 0;
  x.until = 0;
}

} // namespace troupe::transport
