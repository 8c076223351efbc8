#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "policies/visit_window.hpp"

namespace troupe::policies {

/// What visits ask for: whom first, and whom at all.
class request_watch {
public:
  static constexpr std::size_t crowded_among =
    50; ///< First places; crowded above 90 % of them.
  static constexpr std::size_t deserted_among_least = 200; ///< Visits.

  struct options {
    std::size_t experts = 0;
    std::size_t asked = 1; ///< By a visit, at most.
  };

  struct alarm {
    enum class kind : std::uint8_t { crowded, deserted };

    kind what{};
    std::uint32_t expert = 0;
    /// Those of the last 50 first places that it has; of one that is deserted
    /// the last visits, of which none asked for it.
    std::uint64_t count = 0;

    friend bool operator==(const alarm&, const alarm&) = default;
  };

  explicit request_watch(const options& x);

  /// Best first. Whether it counts: what names nobody or an unknown expert does
  /// not, nor does a visit that counts already, since its offer is said again
  /// after a restart.
  bool add(visit_id visit, std::span<const std::uint32_t> request);

  /// Whether it counts already.
  bool has(visit_id visit) const {
    return state_of(counted_, visit) != visit_window::state::open;
  }

  std::uint64_t visits() const noexcept {
    return visits_;
  }

  const std::vector<std::uint64_t>& first() const noexcept {
    return first_;
  }

  const std::vector<std::uint64_t>& asked() const noexcept {
    return asked_;
  }

  /// None before there are so many visits.
  std::vector<alarm> alarms() const;

  /// An expert that so many visits do not ask for is deserted. Of many experts
  /// more than 200: four times what it takes to ask for each.
  std::size_t deserted_among() const noexcept {
    return deserted_among_;
  }

private:
  std::size_t deserted_among_;
  std::uint64_t visits_ = 0;
  std::vector<std::uint64_t> first_; ///< By expert, as all of these.
  std::vector<std::uint64_t> asked_;
  std::vector<std::uint64_t> asked_last_; ///< By which visit; 0: by none.
  std::vector<std::uint64_t> places_;     ///< Of the last first places.
  std::deque<std::uint32_t> lately_;      ///< These, oldest first.
  visit_windows counted_;
};

/// In whole words, without a stop.
std::string text_of(const request_watch::alarm& x, const std::string& expert);

/// The numbers that a visit discloses; empty if one of them is none of these
/// experts, or there twice.
std::vector<std::uint32_t> request_in(std::span<const double> disclosed,
                                      std::size_t experts);

} // namespace troupe::policies
