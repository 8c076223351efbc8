#pragma once

// Who was not let in, or not heard, and why: counted, and said at most once a
// minute for each reason, whoever comes how often.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.hpp"

namespace troupe::transport {

/// Of a frame of whom nobody knows yet: what is larger is not opened.
inline constexpr std::size_t hello_bytes_max = 4096;

enum class refusal : std::uint8_t {
  no_key,           ///< It came without encryption, or for another server.
  unknown_key,      ///< Not allowed, or denied before it came.
  expired_key,      ///< It was allowed until some moment.
  denied_key,       ///< It was here, and is allowed no longer.
  beyond_enrolment, ///< An invitation, and more than enrolment was said.
  too_many_clients, ///< Of one channel.
  client_of_another,
  replayed_session,
  frame_of_servers, ///< What a server alone may say.
  too_many_frames,  ///< In a second.
  unreadable_key,   ///< Its file cannot be read for the moment.
};

inline constexpr std::array<const char*, 11> refusal_names{"no_key",
                                                           "unknown_key",
                                                           "expired_key",
                                                           "denied_key",
                                                           "beyond_enrolment",
                                                           "too_many_clients",
                                                           "client_of_another",
                                                           "replayed_session",
                                                           "frame_of_servers",
                                                           "too_many_frames",
                                                           "unreadable_key"};

/// Of many threads.
class refusals {
public:
  using counts = std::array<std::uint64_t, refusal_names.size()>;
  using log = std::function<void(const std::string& line)>;

  static constexpr instant silence = std::chrono::minutes{1};

  /// From now on lines go there.
  void say_to(log x) {
    const std::lock_guard guard{mutex_};
    log_ = std::move(x);
  }

  void add(refusal why, instant now) {
    const std::lock_guard guard{mutex_};
    const auto i = static_cast<std::size_t>(why);
    ++counts_[i];
    last_[i] = now;
    if (!log_ || (said_[i] && now < *said_[i] + silence))
      return;
    said_[i] = now;
    log_("refused: " + std::string{refusal_names[i]} + ", "
         + std::to_string(counts_[i]) + " in all");
  }

  counts all() const {
    const std::lock_guard guard{mutex_};
    return counts_;
  }

  /// Reasons for which somebody was refused since then.
  std::vector<refusal> since(instant then) const {
    const std::lock_guard guard{mutex_};
    std::vector<refusal> out;
    for (std::size_t i = 0; i < last_.size(); ++i)
      if (last_[i] && *last_[i] >= then)
        out.push_back(static_cast<refusal>(i));
    return out;
  }

private:
  mutable std::mutex mutex_;
  log log_;
  counts counts_{};
  std::array<std::optional<instant>, refusal_names.size()> said_{};
  std::array<std::optional<instant>, refusal_names.size()> last_{};
};

} // namespace troupe::transport
