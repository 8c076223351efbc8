#pragma once

#include <functional>
#include <set>
#include <vector>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include "core/result.hpp"

namespace troupe::actors {

struct supervisor_args {
  /// Makes all of a node's actors anew, from what is durable.
  std::function<result<std::vector<caf::actor>>()> build;
  /// Called for each actor that broke, and when they could not be made; with
  /// the reason.
  std::function<void(const std::string&)> broke;
};

struct supervisor_state {
  static inline constexpr const char* name = "supervisor";

  supervisor_args args;
  std::vector<caf::actor> children;
  std::set<caf::actor_addr> alive;
  bool stopping = false;
};

/// Actors of one node know each other and share what is in memory, so when one
/// breaks, all end and begin again from the ledger: there is one way to start,
/// and it is the one that every start takes. Never two of one line: the next
/// ones are made when the last of the old is gone.
///
/// An exit message ends the children first, and then the supervisor.
caf::behavior supervisor(caf::stateful_actor<supervisor_state>* self,
                         supervisor_args args);

} // namespace troupe::actors
