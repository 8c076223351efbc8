#pragma once

// What the socket of a joining process wants of it, on the socket's thread,
// while its own thread speaks through that socket.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "node/join/home_scores.hpp"

namespace troupe::node {

class home_desk {
public:
  using rule = std::function<std::uint64_t(std::uint16_t kind)>;

  explicit home_desk(rule bytes_max);

  /// How large a message may be. Who asks may have the socket's lock, which
  /// others wait for within `with_scores`: this waits for none of them.
  std::uint64_t bytes_max(std::uint16_t kind);

  /// From now on messages may be as large as this says.
  void learn(rule bytes_max);

  /// From now on there are scores.
  void open(std::unique_ptr<home_scores> x);

  /// Calls it, if there are. It may speak through the socket.
  void with_scores(const std::function<void(home_scores&)>& f);

  /// Waits for what is being scored.
  void close();

private:
  std::mutex rule_mutex_; ///< With it no other one is taken.
  rule bytes_max_;
  std::mutex mutex_;
  std::unique_ptr<home_scores> scores_; ///< Null before and after.
};

} // namespace troupe::node
