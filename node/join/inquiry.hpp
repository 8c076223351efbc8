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

  static constexpr double seconds_with_another = 5; ///< Server.

  struct patience {
    double seconds = 0; ///< 0: no end.
    const std::atomic<bool>* stop = nullptr;
    const std::atomic<bool>* away = nullptr; ///< Nobody lets it in.
    std::function<void()> meanwhile = {};    ///< Called while it waits.
  };

  /// Asks again and again until there is an answer to this question. Nothing:
  /// there was none in time. One that has a nonce, drawn here, was asked
  /// before: an answer to it that came meanwhile is one.
  template <class Answer, class Question>
  std::optional<Answer> ask(transport::endpoint& network, Question what,
                            const patience& how_long) {
    if (what.nonce == 0)
      what.nonce = drawn();
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

  /// A nonce that no question has had.
  std::uint64_t drawn() {
    return ++nonce_;
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

/// What whoever serves is asked until it has answered, however long that takes.
template <class Answer, class Question>
class open_question {
public:
  /// Somebody else serves now: what was answered before says nothing of it. On
  /// any thread.
  void raise() {
    is_new_ = true;
  }

  bool is_open() const {
    return is_new_ || what_;
  }

  /// Nothing: it still is open, or was not. What is answered later is found the
  /// next time. Called on one thread.
  std::optional<Answer> ask(inquiry& by, transport::endpoint& network,
                            const inquiry::patience& how_long) {
    if (is_new_.exchange(false)) {
      what_.emplace();
      what_->nonce = by.drawn();
    }
    if (!what_)
      return std::nullopt;
    auto found = by.ask<Answer>(network, *what_, how_long);
    if (found)
      what_.reset();
    return found;
  }

private:
  std::atomic<bool> is_new_{false};
  std::optional<Question> what_; ///< Until it is answered.
};

} // namespace troupe::node
