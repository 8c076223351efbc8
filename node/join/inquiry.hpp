#pragma once

// What a process asks a server for itself, and waits for.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <variant>

#include "actors/messages/wire.hpp"
#include "actors/transport/endpoint.hpp"
#include "core/clock.hpp"

namespace troupe::node {

/// How long a server is waited for: until it has answered once there may be an
/// end, and then none. Of a process, whatever runs it takes part in.
class first_contact {
public:
  /// @param seconds 0: no end
  explicit first_contact(double seconds) : seconds_(seconds) {
    // nop
  }

  void is_made() noexcept {
    seconds_ = 0;
  }

  /// Of patience with the next question; 0: no end.
  double seconds() const noexcept {
    return seconds_;
  }

private:
  double seconds_;
};

class inquiry {
public:
  /// Hears what the server says; called on any thread.
  void heard(const messages::any_message& x);

  struct patience {
    double seconds = 0; ///< 0: no end.
    const std::atomic<bool>* stop = nullptr;
    const std::atomic<bool>* away = nullptr; ///< Nobody lets it in.
    std::function<void()> meanwhile = {};    ///< Called while it waits.
  };

  /// Asks again and again until there is an answer to this question. Nothing:
  /// there was none in time.
  template <class Answer, class Question>
  std::optional<Answer> ask(transport::endpoint& network, Question what,
                            const patience& how_long) {
    what.nonce = ++nonce_;
    const auto deadline = steady_now() + from_seconds(how_long.seconds);
    for (int tick = 0;; ++tick) {
      if (tick % ticks_between_questions == 0)
        network.send({}, messages::any_message{what});
      if (auto found = wait_for(what.nonce))
        if (auto* answer = std::get_if<Answer>(&*found))
          return std::move(*answer);
      if (how_long.meanwhile)
        how_long.meanwhile();
      if ((how_long.stop && *how_long.stop) || (how_long.away && *how_long.away)
          || (how_long.seconds > 0 && steady_now() > deadline))
        return std::nullopt;
    }
  }

private:
  static constexpr int ticks_between_questions = 20;

  /// Waits for a moment.
  std::optional<messages::any_message> wait_for(std::uint64_t nonce);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<messages::any_message> answer_;
  std::uint64_t answered_ = 0; ///< The nonce of that.
  std::uint64_t nonce_ = 0;
};

} // namespace troupe::node
