#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "core/clock.hpp"
#include "core/ids.hpp"

namespace troupe::messages {

/// Of the run: what its tickets are signed with.
using seal_key = std::array<std::uint8_t, 32>;

/// The invitation to one visit. It carries a MAC under a key that survives
/// restarts: a server knows its own visits without keeping a list of them.
struct ticket {
  visit_id visit{};
  std::uint64_t index = 0; ///< Of the invitation, counted over the run.
  std::uint64_t seed = 0;  ///< From (run seed, index).
  std::uint32_t role = 0;  ///< Which of the recipe's.
  double progress = 0;     ///< Share of the run's budget, in [0, 1].
  round_number round{}; ///< That the visit belongs to; 0 where there is none.
  /// Versions after this round are not served to the visit, so that what it
  /// fetches is one consistent cut.
  round_number cut{};
  std::int64_t expires_ns = 0; ///< Instant of the run; afterwards `withdrawn`.
  std::array<std::uint8_t, 16> mac{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit.client, x.visit.number, x.index, x.seed, x.role,
                    x.progress, x.round, x.cut, x.expires_ns, x.mac);
  }

  instant expires() const noexcept {
    return instant{expires_ns};
  }

  friend bool operator==(const ticket&, const ticket&) = default;
};

} // namespace troupe::messages
