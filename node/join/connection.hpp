#pragma once

// Whether a process is connected to its server, told by one thread and asked by
// others.

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace troupe::node {

class connection {
public:
  struct state {
    bool there = false;
    bool ever = false;
    std::int64_t changed_ms = 0; ///< Since 1970.
  };

  void is(bool there, std::int64_t now_ms) {
    const std::lock_guard guard{mutex_};
    if (there == now_.there)
      return;
    if (there && now_.ever)
      news_ = "the connection is back after "
              + seconds_text(now_ms - now_.changed_ms);
    else if (!there)
      news_ = "the connection is lost; the server is dialled until it answers";
    now_ = {there, now_.ever || there, now_ms};
  }

  state now() const {
    const std::lock_guard guard{mutex_};
    return now_;
  }

  /// What people have not been told yet: the last of it.
  std::optional<std::string> take_news() {
    const std::lock_guard guard{mutex_};
    return std::exchange(news_, std::nullopt);
  }

private:
  static std::string seconds_text(std::int64_t ms) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ms) / 1000);
    return text;
  }

  mutable std::mutex mutex_;
  state now_;
  std::optional<std::string> news_;
};

} // namespace troupe::node
