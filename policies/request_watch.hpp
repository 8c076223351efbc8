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
  static constexpr std::size_t deserted_among = 200; ///< Visits.

  struct alarm {
    enum class kind : std::uint8_t { crowded, deserted };

    kind what{};
    std::uint32_t expert = 0;
    std::uint64_t places = 0; ///< Of the last 50, where it is crowded.

    friend bool operator==(const alarm&, const alarm&) = default;
  };

  explicit request_watch(std::size_t experts);

  /// Best first. Whether it counts: what names nobody or an unknown expert does
  /// not, nor does a visit that counts already, since its offer is said again
  /// after a restart.
  bool add(visit_id visit, std::span<const std::uint32_t> request);

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

private:
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
