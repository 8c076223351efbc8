#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <caf/all.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "core/clock.hpp"
#include "core/random.hpp"

namespace troupe::test {

/// Something to be done later, in the world's order of things.
struct thunk {
  std::function<void()> what;
};

} // namespace troupe::test

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::test::thunk)

namespace troupe::test {

/// A whole system in one thread under one seed: the order in which actors run,
/// the time and every fault are drawn from it. The same seed replays the same
/// run, message by message.
class world {
public:
  /// @param haste how often time goes on though there is mail, as it does
  /// where
  ///        it is the wall clock's
  explicit world(std::uint64_t seed, double haste = 0)
    : schedule_(derive_seed(seed, "schedule")),
      hurry_(derive_seed(seed, "haste")),
      haste_(haste),
      system_(testing_config(config_)),
      scheduler_(dynamic_cast<scheduler_type&>(system_.scheduler())) {
    // CAF forms a reference to nothing where a function has no argument: it
    // gets one.
    runner_ = system_.spawn(
      [](caf::event_based_actor*, world*) -> caf::behavior {
        return {[](const thunk& x) { x.what(); }};
      },
      this);
  }

  world(const world&) = delete;
  world& operator=(const world&) = delete;

  ~world() {
    kill(runner_);
    runner_ = nullptr;
    settle(); // Let the exits arrive, or the actor system waits for ever.
  }

  caf::actor_system& system() {
    return system_;
  }

  caf::actor_clock::time_point clock_now() const {
    return scheduler_.clock().now();
  }

  /// Virtual time since the world began.
  instant now() const {
    return clock_now().time_since_epoch();
  }

  /// Calls `f` after a while, between two messages.
  void later(instant delay, std::function<void()> f) {
    caf::delayed_anon_send(runner_, delay, thunk{std::move(f)});
  }

  /// Ends an actor before it takes another message, as a crash would. (CAF's
  /// anon_send_exit waits in line behind the mail that is already there.)
  static void kill(const caf::actor& x) {
    const auto id = caf::make_message_id(caf::message_priority::high);
    caf::exit_msg exit{x.address(), caf::exit_reason::kill};
    caf::actor_cast<caf::strong_actor_ptr>(x)->enqueue(
      nullptr, id, caf::make_message(std::move(exit)), nullptr);
  }

  /// Messages that wait for an actor.
  static std::size_t mail_of(const caf::actor& x) {
    auto* ptr = caf::actor_cast<caf::abstract_actor*>(x);
    auto& mailbox = dynamic_cast<caf::scheduled_actor&>(*ptr).mailbox();
    // Counting would unblock a mailbox whose owner sleeps, and nobody would
    // wake it.
    return mailbox.blocked() || mailbox.closed() ? 0 : mailbox.size();
  }

  /// Lets one random runnable actor take one message; if all are idle, or it
  /// is in haste, time jumps to the next timeout. Returns false when nothing is
  /// left to happen.
  bool step() {
    auto& jobs = scheduler_.jobs;
    if (jobs.empty())
      return scheduler_.trigger_timeout();
    if (haste_ > 0 && hurry_.chance(haste_) && scheduler_.trigger_timeout()) {
      ++overtaken_;
      return true;
    }
    std::swap(jobs.front(), jobs[schedule_.below(jobs.size())]);
    return scheduler_.try_run_once();
  }

  /// Steps until nothing is left to happen. Returns false if that takes more
  /// than `steps_max` steps: a livelock.
  bool settle(std::size_t steps_max = 1'000'000) {
    for (std::size_t i = 0; i < steps_max; ++i)
      if (!step())
        return true;
    return false;
  }

  /// How often a timer came before mail that was there already.
  std::uint64_t overtaken() const noexcept {
    return overtaken_;
  }

private:
  using scheduler_type = caf::scheduler::test_coordinator;

  static caf::actor_system_config& testing_config(caf::actor_system_config& x) {
    x.set("scheduler.policy", caf::atom("testing"));
    x.set("logger.verbosity", caf::atom("quiet"));
    return x;
  }

  random_stream schedule_;
  random_stream hurry_;
  double haste_ = 0;
  std::uint64_t overtaken_ = 0;
  caf::actor_system_config config_;
  caf::actor_system system_;
  scheduler_type& scheduler_;
  caf::actor runner_;
};

} // namespace troupe::test
