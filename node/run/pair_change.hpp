#pragma once

// When a server's next pair of keys serves, and who hears of it before. Knows
// neither files nor sockets.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "node/keys/pair.hpp"

namespace troupe::node {

class pair_change {
public:
  /// As it is written now. What was said of another one, or of another moment,
  /// is said again.
  void found(const std::optional<coming_pair>& x) {
    const bool is_same =
      x.has_value() == next_.has_value()
      && (!x || (x->pair.open == next_->pair.open && x->at_ms == next_->at_ms));
    if (!is_same)
      told_.clear();
    next_ = x;
  }

  bool is_due(std::int64_t now_ms) const {
    return next_ && next_->at_ms <= now_ms;
  }

  /// Milliseconds until then. @pre one was found
  std::uint64_t left(std::int64_t now_ms) const {
    return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, next_->at_ms - now_ms));
  }

  /// Of those who are here, who is to hear it now: at once, and again and
  /// again, since nobody says that they have.
  std::vector<std::uint64_t> to_tell(const std::vector<std::uint64_t>& here,
                                     std::int64_t now_ms) {
    std::vector<std::uint64_t> out;
    if (!next_ || is_due(now_ms))
      return out;
    const auto again =
      next_->at_ms - now_ms <= soon_ms ? again_soon_ms : again_ms;
    const std::set<std::uint64_t> all{here.begin(), here.end()};
    std::erase_if(told_, [&](const auto& x) { return !all.contains(x.first); });
    for (const auto link : all) {
      const auto [at, is_new] = told_.try_emplace(link, now_ms);
      if (!is_new && now_ms - at->second < again)
        continue;
      at->second = now_ms;
      out.push_back(link);
    }
    return out;
  }

private:
  static constexpr std::int64_t soon_ms = 10'000;
  static constexpr std::int64_t again_ms = 10'000;
  static constexpr std::int64_t again_soon_ms = 1'000;

  std::optional<coming_pair> next_;
  std::map<std::uint64_t, std::int64_t>
    told_; ///< Links, and when the last time.
};

} // namespace troupe::node
