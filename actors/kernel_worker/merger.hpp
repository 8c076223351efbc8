#pragma once

#include <memory>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"
#include "actors/kernel_worker/merge.hpp"
#include "kernels/backend.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

struct merger_args {
  std::shared_ptr<kernels::backend> arithmetic; ///< Used by this actor alone.
  std::shared_ptr<const models::layout> blocks;
  values_on_disk on_disk = {};
};

struct merger_state {
  static inline constexpr const char* name = "merger";

  merger_args args;
};

/// Merges are computed here and now.
merger_actor::behavior_type
merger(merger_actor::stateful_pointer<merger_state> self, merger_args args);

} // namespace troupe::actors
