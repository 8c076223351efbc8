#include "actors/transport/rope.hpp"

#include <algorithm>
#include <limits>

#include "actors/transport/envelope.hpp"

namespace troupe::transport {

namespace {

/// Values below that are copied: a strand of their own would cost more.
constexpr std::size_t shared_bytes_min = 1024;

struct rope_sink {
  rope& out;

  void operator()(const void* first, std::size_t size) {
    out.add(first, size);
  }

  void operator()(const shared_values& x) {
    out.add(x);
  }
};

/// Some bytes of the upper halves of values, which are made for it.
strand halves_of(const shared_values& x, std::uint64_t at, std::uint64_t size) {
  constexpr auto each = sizeof(std::uint16_t);
  const auto first = at / each;
  auto made = std::make_shared<std::vector<std::uint16_t>>(
    (at + size + each - 1) / each - first);
  to_bf16(x->subspan(first, made->size()), *made);
  return {std::as_bytes(std::span{*made}).subspan(at % each, size), made};
}

} // namespace

void rope::add(const void* first, std::size_t size) {
  if (size == 0)
    return;
  if (pieces_.empty() || pieces_.back().shared)
    pieces_.push_back(
      {.begin = this->size(), .own_at = own_.size(), .shared = {}});
  const auto* p = static_cast<const std::byte*>(first);
  own_.insert(own_.end(), p, p + size);
}

void rope::add(const shared_values& x) {
  const auto bytes = sent_bytes(x);
  if (bytes < shared_bytes_min) {
    const auto sent =
      x.is_bf16() ? halves_of(x, 0, bytes) : strand{std::as_bytes(*x), nullptr};
    return add(sent.bytes.data(), bytes);
  }
  pieces_.push_back({.begin = size(), .own_at = 0, .shared = x});
  shared_bytes_ += bytes;
}

strand rope::part(const std::shared_ptr<const rope>& whole, std::uint64_t at,
                  std::size_t most) {
  const auto& all = whole->pieces_;
  const auto behind = std::ranges::upper_bound(all, at, {}, &piece::begin);
  const auto& found = *std::prev(behind);
  const auto end = behind == all.end() ? whole->size() : behind->begin;
  const auto size = std::min<std::uint64_t>(most, end - at);
  const auto within = at - found.begin;
  if (found.shared.is_bf16())
    return halves_of(found.shared, within, size);
  if (found.shared)
    return {std::as_bytes(*found.shared).subspan(within, size),
            found.shared.owner()};
  return {std::span{whole->own_}.subspan(found.own_at + within, size), whole};
}

std::vector<strand> rope::parts(const std::shared_ptr<const rope>& whole) {
  std::vector<strand> out;
  for (std::uint64_t at = 0; at < whole->size(); at += out.back().bytes.size())
    out.push_back(part(whole, at, std::numeric_limits<std::size_t>::max()));
  return out;
}

std::shared_ptr<const rope> payload_rope(const messages::any_message& any) {
  auto out = std::make_shared<rope>();
  rope_sink sink{*out};
  writer write{sink};
  std::visit(
    [&](const auto& x) {
      std::apply([&](const auto&... field) { (write(field), ...); },
                 detail::fields_of(x));
    },
    any);
  return out;
}

std::vector<strand> frame_parts(const messages::any_message& any) {
  auto parts = rope::parts(payload_rope(any));
  std::vector<std::span<const std::byte>> payload;
  for (const auto& x : parts)
    payload.push_back(x.bytes);
  auto head = std::make_shared<const buffer>(envelope_before(any, payload));
  parts.insert(parts.begin(), {*head, head});
  return parts;
}

} // namespace troupe::transport
