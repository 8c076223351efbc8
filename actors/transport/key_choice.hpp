#pragma once

// Of the keys that its server may have, the one that who dials tries. A server
// changes its pair at an instant that no other clock knows: so it is the one
// that works. Knows neither sockets nor clocks.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/keys.hpp"

namespace troupe::transport {

class key_choice {
public:
  static constexpr std::size_t most = 16;

  /// In the order in which one comes after the other.
  explicit key_choice(std::vector<public_key> all) : all_(std::move(all)) {
    // nop
  }

  const public_key& now() const {
    return all_[at_];
  }

  std::size_t size() const noexcept {
    return all_.size();
  }

  /// One more, after those that there are. With too many nothing is added.
  void add(const public_key& next) {
    if (std::ranges::find(all_, next) == all_.end() && all_.size() < most)
      all_.push_back(next);
  }

  /// It is dialled. What was heard since the one before was given up came of
  /// that one's connection, and says nothing of this.
  void dialled() noexcept {
    is_dialled_ = true;
  }

  /// Nobody with this key is there: the next one is to be dialled, after a
  /// while; where there is no other, the same. Nothing: it was not dialled yet.
  std::optional<instant> broken() {
    if (!is_dialled_)
      return std::nullopt;
    is_dialled_ = false;
    at_ = (at_ + 1) % all_.size();
    // At once, until all of them were tried.
    const auto rounds = ++tries_ / all_.size();
    return std::min<instant>(rounds * first_pause, longest_pause);
  }

  /// The server has spoken, and has this one. Those before it are no longer
  /// taken: whoever has one of them now is somebody else. False: it was not
  /// dialled yet.
  bool met() {
    if (!is_dialled_)
      return false;
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    tries_ = 0;
    return true;
  }

private:
  static constexpr std::chrono::milliseconds first_pause{100};
  static constexpr std::chrono::seconds longest_pause{1};

  std::vector<public_key> all_; ///< One at least.
  std::size_t at_ = 0;
  bool is_dialled_ = false;
  std::size_t tries_ = 0; ///< Since one was met.
};

} // namespace troupe::transport
