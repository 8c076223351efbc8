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

/// With what a message begins with.
std::uint64_t mixed(std::uint64_t hash, std::span<const std::byte> bytes) {
  for (const auto byte : bytes.first(std::min(bytes.size(), bytes_that_name)))
    hash = mixed(hash, std::to_integer<std::uint64_t>(byte));
  return hash;
}

/// Of a channel of a link.
std::uint64_t name_of(std::uint64_t link, channel_id channel) {
  return mixed(mixed(14695981039346656037ull, link), channel.value);
}

} // namespace

crossing crossings::sort(std::uint64_t link, const piece& x, instant now) {
  switch (x.kind) {
    case piece_kind::framed:
      count(link, x.channel, x.body.bytes, now);
      return sort_frame(link, x.channel, x.body.bytes);
    case piece_kind::bundled:
      return sort_bundle(link, x, now);
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

std::vector<crossings::question> crossings::take_questions() {
  return std::exchange(questions_, {});
}

void crossings::was_asked(std::uint64_t link, const question& x, instant now) {
  if (answers_to_.empty())
    answers_to_.resize(limits::messages_remembered);
  const auto name = name_of(link, x.channel);
  if (auto& known = answers_to_[name % answers_to_.size()];
      known.name != name || known.words != x.words)
    known = {.name = name, .words = x.words, .at = now};
}

crossing crossings::sort_frame(std::uint64_t link, channel_id channel,
                               std::span<const std::byte> frame) {
  const auto kind = kind_of(frame);
  if (!has_values(kind))
    return crossing::small;
  return was_said({link, kind, channel, frame}) ? crossing::said_again
                                                : crossing::values;
}

// By the first that has values: those are nearly all of its bytes.
crossing crossings::sort_bundle(std::uint64_t link, const piece& x,
                                instant now) {
  auto out = crossing::small;
  for (const auto& [channel, frame] : frames_in(x)) {
    count(link, channel, frame, now);
    if (out == crossing::small)
      out = sort_frame(link, channel, frame);
  }
  return out;
}

void crossings::count(std::uint64_t link, channel_id channel,
                      std::span<const std::byte> frame, instant now) {
  const auto kind = kind_of(frame);
  if (kind == messages::fetch_requested::wire.kind)
    questions_.push_back({channel, mixed(name_of(link, channel), frame)});
  if (is_of_visit(kind) && brings_values(kind, frame.size()))
    count(link, channel, kind, now, now);
}

// A fetch may be of several lines, and each of them was asked for then.
void crossings::count(std::uint64_t link, channel_id channel,
                      std::uint16_t kind, instant began, instant now) {
  const auto name = name_of(link, channel);
  if (kind == messages::line_served::wire.kind && !answers_to_.empty())
    if (const auto& known = answers_to_[name % answers_to_.size()];
        known.name == name)
      began = std::min(began, known.at);
  carried_.values.add(seconds(now - began));
}

// After a lost connection one and the same begins again.
void crossings::begin(std::uint64_t link, const piece& x, instant at) {
  if (!transfers_.contains(link) && transfers_.size() >= limits::links_max)
    transfers_.erase(transfers_.begin());
  auto& now = transfers_[link];
  const auto what = decode_record<beginning>(x.body.bytes);
  if (!what || now.id == x.transfer)
    return;
  now = {.id = x.transfer,
         .channel = x.channel,
         .kind = what->kind,
         .size = what->size,
         .began = at};
  if (what->kind == messages::fetch_requested::wire.kind)
    questions_.push_back({x.channel, x.transfer.value});
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
    count(link, now.channel, now.kind, now.began, at);
    ++carried_.transfers;
  }
  return now.again || twice ? crossing::said_again : crossing::values;
}

bool crossings::was_said(const opening_words& x) {
  if (said_.empty())
    said_.resize(limits::messages_remembered);
  const auto hash = mixed(mixed(name_of(x.link, x.channel), x.kind), x.bytes);
  auto& known = said_[hash % said_.size()];
  return std::exchange(known, hash) == hash;
}

} // namespace troupe::transport
