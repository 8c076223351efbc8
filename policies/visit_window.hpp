#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "core/ids.hpp"

namespace troupe::policies {

/// Which visits of one client are merged into one version line. It takes 16
/// bytes however long the run is: the numbers up to a watermark are closed, the
/// `size` numbers above it have one bit each, and all after them are open.
///
/// A client has fewer than `size` visits at a time, so only a visit that was
/// given up long ago falls below the watermark, or one of which a part waits
/// for long while numbers are left out: at each restart, and after a copy was
/// put back. It is not merged any more.
class visit_window {
public:
  static constexpr std::uint64_t size = 64;

  enum class state : std::uint8_t { open, merged, closed };

  constexpr visit_window() noexcept = default;

  /// Goes on from what `highest` and `bits` of an earlier window said.
  constexpr visit_window(visit_number highest, std::uint64_t bits) noexcept
    : highest_(highest.value),
      bits_(bits) {
    // nop
  }

  constexpr state of(visit_number x) const noexcept {
    if (x.value > highest_)
      return state::open;
    const auto age = highest_ - x.value;
    if (age >= size)
      return state::closed;
    return ((bits_ >> age) & 1) != 0 ? state::merged : state::open;
  }

  constexpr void insert(visit_number x) noexcept {
    if (x.value > highest_) {
      const auto shift = x.value - highest_;
      bits_ = shift < size ? bits_ << shift : 0;
      highest_ = x.value;
    }
    const auto age = highest_ - x.value;
    if (age < size)
      bits_ |= std::uint64_t{1} << age;
  }

  /// The highest number that was merged, 0 before the first.
  constexpr visit_number highest() const noexcept {
    return {highest_};
  }

  /// Bit k says whether `highest() - k` was merged.
  constexpr std::uint64_t bits() const noexcept {
    return bits_;
  }

  static constexpr auto fields(auto& x) {
    return std::tie(x.highest_, x.bits_);
  }

  friend constexpr bool operator==(const visit_window&,
                                   const visit_window&) noexcept = default;

private:
  std::uint64_t highest_ = 0;
  std::uint64_t bits_ = 0;
};

/// One window per client that ever had an offer merged.
using visit_windows = std::map<client_id, visit_window>;

inline visit_window::state state_of(const visit_windows& windows, visit_id x) {
  const auto found = windows.find(x.client);
  return found == windows.end() ? visit_window::state::open
                                : found->second.of(x.number);
}

/// Adds what other windows say is merged.
inline void insert_all(visit_windows& to, const visit_windows& from) {
  for (const auto& [client, window] : from)
    for (auto age = visit_window::size; age-- > 0;)
      if (((window.bits() >> age) & 1) != 0)
        to[client].insert({window.highest().value - age});
}

/// Counts a visit of which several lines tell: true for the first that does.
inline bool insert_once(visit_windows& windows, visit_id x) {
  auto& window = windows[x.client];
  if (window.of(x.number) != visit_window::state::open)
    return false;
  window.insert(x.number);
  return true;
}

} // namespace troupe::policies
