#include "node/run/virtual_loop.hpp"

#include "core/assert.hpp"

namespace troupe::node {

namespace {

caf::scheduler::test_coordinator& scheduler_of(caf::actor_system& system) {
  auto* found =
    dynamic_cast<caf::scheduler::test_coordinator*>(&system.scheduler());
  TROUPE_ASSERT(found);
  return *found;
}

} // namespace

void use_virtual_time(caf::actor_system_config& x) {
  x.set("scheduler.policy", caf::atom("testing"));
}

virtual_loop::virtual_loop(caf::actor_system& system,
                           actors::due_workshop& jobs, options opts)
  : scheduler_(scheduler_of(system)),
    jobs_(jobs),
    options_(std::move(opts)),
    started_(std::chrono::seconds{1}),
    last_result_(options_.begin_at) {
  scheduler_.clock().current_time = started_ + options_.begin_at;
}

instant virtual_loop::now() const {
  return scheduler_.clock().now() - started_;
}

virtual_loop::outcome virtual_loop::run(const std::function<bool()>& over) {
  while (!over()) {
    if (scheduler_.try_run_once())
      continue;
    if (options_.release && options_.release())
      continue;
    if (options_.at_rest && instant_is_over())
      options_.at_rest();
    if (!advance())
      return outcome::stalled;
  }
  return outcome::over;
}

void virtual_loop::settle() {
  while (scheduler_.try_run_once())
    ;
}

bool virtual_loop::instant_is_over() const {
  const auto& clock = scheduler_.clock();
  const auto& timers = clock.schedule();
  const auto* job = jobs_.next();
  return (timers.empty() || timers.begin()->first > clock.current_time)
         && (!job || job->due > now());
}

// Time moves to the least result or timer.
bool virtual_loop::advance() {
  auto& clock = scheduler_.clock();
  const auto& timers = clock.schedule();
  const auto* job = jobs_.next();
  if (job && (timers.empty() || started_ + job->due <= timers.begin()->first)) {
    clock.current_time = std::max(clock.current_time, started_ + job->due);
    last_result_ = now();
    jobs_.deliver_next();
    return true;
  }
  if (timers.empty())
    return false;
  if (!job
      && timers.begin()->first - started_ > last_result_ + options_.stall_after)
    return false;
  return clock.trigger_timeout();
}

} // namespace troupe::node
