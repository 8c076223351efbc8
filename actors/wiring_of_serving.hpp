#pragma once

// What a server has beside its node when clients come from elsewhere.

#include <caf/actor_system.hpp>

#include "actors/interfaces.hpp"
#include "actors/reception/reception.hpp"

namespace troupe::actors {

/// Whom processes ask before their clients say hello.
reception_actor start_reception(caf::actor_system& system, reception_args args);

} // namespace troupe::actors
