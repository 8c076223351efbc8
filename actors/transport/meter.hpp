#pragma once

// How much somebody may say in a second. Knows neither sockets nor clocks.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/clock.hpp"
#include "core/limits.hpp"

namespace troupe::transport {

/// A bucket of tokens that is full at first: one second's worth may come at
/// once.
class meter {
public:
  explicit meter(std::uint64_t per_second)
    : rate_(static_cast<double>(per_second)),
      left_(rate_) {
    // nop
  }

  /// Whether there is one more; then `count` are taken, of which some may be
  /// lent.
  bool takes(instant now, std::uint64_t count = 1) {
    left_ = left_at(now);
    at_ = std::max(at_, now);
    if (left_ < 1)
      return false;
    left_ -= static_cast<double>(count);
    return true;
  }

  bool is_full(instant now) const {
    return left_at(now) >= rate_;
  }

private:
  double left_at(instant now) const {
    const auto since = std::max(instant{}, now - at_);
    return std::min(rate_, left_ + rate_ * seconds(since));
  }

  double rate_;
  double left_;
  instant at_{};
};

/// How fast it is read who says more than its share while others are there:
/// what it says beyond that waits where it is, in the end with who says it, and
/// nothing of it is lost. Who is alone has no share.
class shares {
public:
  static constexpr instant lately = std::chrono::seconds{1};
  /// Others have to wait as long.
  static constexpr instant longest = std::chrono::milliseconds{5};

  explicit shares(std::uint64_t per_second,
                  std::size_t most = limits::meters_max)
    : rate_(static_cast<double>(per_second)),
      most_(most) {
    // nop
  }

  /// So many more have been read. Returns for how long none should be.
  instant heard(const std::string& who, instant now, std::uint64_t count = 1) {
    const bool alone = !is_there_another(who, now);
    const auto found = find(who, now);
    auto& [left, at] = found->second;
    // A tenth of a second's worth may come at once.
    left = std::min(rate_ / 10, left + rate_ * seconds(now - at))
           - static_cast<double>(count);
    at = now;
    left = std::max(left, alone ? 0 : -rate_ * seconds(longest));
    return left < 0 ? from_seconds(-left / rate_) : instant{};
  }

private:
  struct known {
    double left = 0;
    instant at{};
  };

  using all = std::map<std::string, known>;

  all::iterator find(const std::string& who, instant now) {
    auto found = all_.find(who);
    if (found != all_.end())
      return found;
    if (all_.size() >= most_)
      all_.clear();
    return all_.emplace(who, known{rate_ / 10, now}).first;
  }

  // Who spoke last, and of all others the last.
  bool is_there_another(const std::string& who, instant now) {
    if (last_.first != who)
      other_ = std::exchange(last_, {who, now});
    last_.second = now;
    return !other_.first.empty() && now - other_.second < lately;
  }

  double rate_;
  std::size_t most_;
  all all_;
  std::pair<std::string, instant> last_;
  std::pair<std::string, instant> other_;
};

/// One for each name.
class meters {
public:
  explicit meters(std::uint64_t per_second,
                  std::size_t most = limits::meters_max)
    : per_second_(per_second),
      most_(most) {
    // nop
  }

  bool takes(const std::string& who, instant now, std::uint64_t count = 1) {
    const auto found = all_.find(who);
    if (found != all_.end())
      return found->second.takes(now, count);
    if (all_.size() >= most_)
      make_room(now);
    return all_.emplace(who, meter{per_second_})
      .first->second.takes(now, count);
  }

  std::size_t size() const noexcept {
    return all_.size();
  }

private:
  // Those that are full again are as if they had never been.
  void make_room(instant now) {
    std::erase_if(all_, [=](const auto& x) { return x.second.is_full(now); });
    if (all_.size() >= most_)
      all_.erase(all_.begin());
  }

  std::uint64_t per_second_;
  std::size_t most_;
  std::map<std::string, meter> all_;
};

} // namespace troupe::transport
