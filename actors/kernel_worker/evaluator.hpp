#pragma once

#include <memory>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"
#include "models/trainer.hpp"

namespace troupe::actors {

struct evaluator_args {
  std::shared_ptr<models::trainer> trainer; ///< Used by this actor alone.
};

struct evaluator_state {
  static inline constexpr const char* name = "evaluator";

  evaluator_args args;
};

/// Scores are computed here and now.
evaluator_actor::behavior_type
evaluator(evaluator_actor::stateful_pointer<evaluator_state> self,
          evaluator_args args);

} // namespace troupe::actors
