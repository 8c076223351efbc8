#pragma once

// The clock of a simulated run: time stands still while there is mail, and then
// jumps to what is due next.

#include <cstdint>
#include <functional>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/kernel_worker/crew.hpp"
#include "core/clock.hpp"

namespace troupe::node {

/// Makes systems of this configuration ones that a `virtual_loop` drives.
void use_virtual_time(caf::actor_system_config& x);

/// Runs all actors of a system on the calling thread, one message at a time in
/// the order in which they came. When there is no more mail, the least result
/// or timer is due; at the same instant results come first. So a run is a
/// function of what its jobs compute, and not of when they are done.
class virtual_loop {
public:
  struct options {
    /// Timers alone are no progress: after so long without a result it is a
    /// stall.
    instant stall_after = std::chrono::hours{24 * 365};
    /// Where a resumed run stands when it begins.
    instant begin_at{};
    /// Called when there is no mail: delivers what waited for that, and says
    /// whether there was something.
    std::function<bool()> release = {};
    /// Called when nothing is left of an instant, before time moves. It may
    /// send mail.
    std::function<void()> at_rest = {};
  };

  enum class outcome : std::uint8_t {
    over,    ///< The predicate said so.
    stalled, ///< Nothing is left that could happen.
  };

  /// Time begins here. @pre `system` was made with `use_virtual_time`
  virtual_loop(caf::actor_system& system, actors::due_workshop& jobs,
               options opts);

  virtual_loop(caf::actor_system& system, actors::due_workshop& jobs)
    : virtual_loop(system, jobs, options{}) {
    // nop
  }

  /// The run's instant zero.
  caf::actor_clock::time_point started() const noexcept {
    return started_;
  }

  instant now() const;

  /// Goes on until `over()`, which is asked before each message.
  [[nodiscard]] outcome run(const std::function<bool()>& over);

  /// Delivers all mail and leaves time as it is.
  void settle();

private:
  bool advance();
  bool instant_is_over() const;

  caf::scheduler::test_coordinator& scheduler_;
  actors::due_workshop& jobs_;
  options options_;
  caf::actor_clock::time_point started_;
  instant last_result_{};
};

} // namespace troupe::node
