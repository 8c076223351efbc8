#pragma once

#include <compare>
#include <cstdint>
#include <tuple>

namespace troupe {

/// An integer that cannot be mistaken for another kind of integer.
template <class Tag>
struct id {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(id, id) noexcept = default;
};

using client_id = id<struct client_tag>;
using block_id = id<struct block_tag>;
using line_id =
  id<struct line_tag>; ///< A version line: one block or one group.
using visit_number = id<struct visit_number_tag>;
using version = id<struct version_tag>;
using round_number =
  id<struct round_tag>; ///< Of a round or a window; 0 is before.
using session_id = id<struct session_tag>;
/// Names the other end of a connection for as long as it lasts.
using peer_id = id<struct peer_tag>;

/// One client's round trip. The server gives the number with the invitation: it
/// counts up from 1 per client and is never given twice.
struct visit_id {
  client_id client;
  visit_number number;

  static constexpr auto fields(auto& x) {
    return std::tie(x.client, x.number);
  }

  friend constexpr auto operator<=>(const visit_id&,
                                    const visit_id&) noexcept = default;
};

/// How many versions behind `head` something based on `base` is.
constexpr std::uint64_t staleness(version base, version head) noexcept {
  return base < head ? head.value - base.value : 0;
}

template <class Tag>
constexpr id<Tag> next(id<Tag> x) noexcept {
  return {x.value + 1};
}

} // namespace troupe
