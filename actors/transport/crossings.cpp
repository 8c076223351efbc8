#include "actors/transport/crossings.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "actors/transport/envelope.hpp"
#include "core/limits.hpp"

namespace troupe::transport {

namespace {

constexpr std::size_t bytes_that_name = 64;
constexpr std::size_t kind_at = 4; ///< In an envelope.

bool has_values(std::uint16_t kind) {
  return kind == messages::offer_made::wire.kind
         || kind == messages::line_served::wire.kind
         || kind == messages::scores_asked::wire.kind
         || kind == messages::frozen_given::wire.kind;
}

bool is_of_visit(std::uint16_t kind) {
  return kind == messages::offer_made::wire.kind
         || kind == messages::line_served::wire.kind;
}

std::uint16_t kind_of(std::span<const std::byte> frame) {
  if (frame.size() < envelope_size)
    return 0;
  const auto at = [&](std::size_t i) {
    return std::to_integer<unsigned>(frame[kind_at + i]);
  };
  return static_cast<std::uint16_t>(at(0) | at(1) << 8);
}

/// Whether it brings values, as far as its kind and its size say: a line that
/// its client has is served without.
bool brings_values(std::uint16_t kind, std::size_t bytes) {
  static const auto empty = encoded_size(messages::line_served{});
  return kind != messages::line_served::wire.kind || bytes > empty;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t x) {
  return (hash ^ x) * 1099511628211ull;
}

} // namespace

crossing crossings::sort(std::uint64_t link, const piece& x, instant now) {
  switch (x.kind) {
    case piece_kind::framed:
      return sort_frame(link, x.channel, x.body.bytes);
    case piece_kind::bundled:
      return sort_bundle(link, x);
    case piece_kind::began:
      begin(link, x, now);
      return crossing::link;
    case piece_kind::chunk:
      return sort_chunk(link, x, now);
    default:
      return crossing::link;
  }
}

std::optional<crossings::carried> crossings::take_carried() {
  if (carried_.values.count == 0)
    return std::nullopt;
  return std::exchange(carried_, {});
}

crossing crossings::sort_frame(std::uint64_t link, channel_id channel,
                               std::span<const std::byte> frame) {
  const auto kind = kind_of(frame);
  if (!has_values(kind))
    return crossing::small;
  if (is_of_visit(kind) && brings_values(kind, frame.size()))
    carried_.values.add(0);
  return was_said({link, kind, channel, frame}) ? crossing::said_again
                                                : crossing::values;
}

// By the first that has values: those are nearly all of its bytes.
crossing crossings::sort_bundle(std::uint64_t link, const piece& x) {
  for (const auto& [channel, frame] : frames_in(x))
    if (has_values(kind_of(frame)))
      return sort_frame(link, channel, frame);
  return crossing::small;
}

// After a lost connection one and the same begins again.
void crossings::begin(std::uint64_t link, const piece& x, instant at) {
  if (!transfers_.contains(link) && transfers_.size() >= limits::links_max)
    transfers_.erase(transfers_.begin());
  auto& now = transfers_[link];
  const auto what = decode_record<beginning>(x.body.bytes);
  if (what && now.id != x.transfer)
    now = {
      .id = x.transfer, .kind = what->kind, .size = what->size, .began = at};
}

crossing crossings::sort_chunk(std::uint64_t link, const piece& x, instant at) {
  const auto known = transfers_.find(link);
  if (known == transfers_.end() || known->second.id != x.transfer
      || !has_values(known->second.kind))
    return crossing::small;
  auto& now = known->second;
  if (x.at == 0 && now.furthest == 0)
    now.again = was_said({link, now.kind, x.channel, x.body.bytes});
  const bool twice = x.at < now.furthest;
  const bool was_whole = now.furthest >= now.size;
  now.furthest = std::max(now.furthest, x.at + x.body.bytes.size());
  if (!was_whole && now.furthest >= now.size && is_of_visit(now.kind)) {
    carried_.values.add(seconds(at - now.began));
    ++carried_.transfers;
  }
  return now.again || twice ? crossing::said_again : crossing::values;
}

bool crossings::was_said(const opening_words& x) {
  if (said_.empty())
    said_.resize(limits::messages_remembered);
  auto hash = mixed(mixed(mixed(14695981039346656037ull, x.link), x.kind),
                    x.channel.value);
  for (const auto byte :
       x.bytes.first(std::min(x.bytes.size(), bytes_that_name)))
    hash = mixed(hash, std::to_integer<std::uint64_t>(byte));
  auto& known = said_[hash % said_.size()];
  return std::exchange(known, hash) == hash;
}

} // namespace troupe::transport
