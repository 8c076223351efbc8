#include "node/run/lone_routes.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include "actors/wiring_of_routes.hpp"
#include "node/run/virtual_loop.hpp"

namespace troupe::node {

namespace {

caf::actor_system_config& for_one_thread(caf::actor_system_config& x) {
  use_virtual_time(x);
  return x;
}

} // namespace

struct lone_routes::actors_alone {
  explicit actors_alone(const std::vector<line_id>& lines)
    : system(for_one_thread(config)),
      who(actors::start_lone_router(system, lines, heard)) {
    // nop
  }

  actors_alone(const actors_alone&) = delete;
  actors_alone& operator=(const actors_alone&) = delete;

  ~actors_alone() {
    caf::anon_send_exit(who.router, caf::exit_reason::kill);
    caf::anon_send_exit(who.keeper, caf::exit_reason::kill);
    settle(); // Or the system waits for them for ever.
    who = {};
  }

  void settle() {
    auto& jobs =
      dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
    while (jobs.try_run_once())
      ;
  }

  caf::actor_system_config config;
  caf::actor_system system;
  std::uint64_t heard = 0;
  actors::lone_router who;
};

lone_routes::lone_routes(const std::vector<line_id>& lines)
  : all_(std::make_unique<actors_alone>(lines)) {
  // nop
}

lone_routes::~lone_routes() = default;

void lone_routes::send(const messages::serve_requested& x) {
  caf::anon_send(all_->who.router, x);
}

std::uint64_t lone_routes::settle() {
  all_->settle();
  return all_->heard;
}

} // namespace troupe::node
