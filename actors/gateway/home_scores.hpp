#pragma once

#include "actors/gateway/gateway.hpp"

namespace troupe::actors {

/// Asks each process, on its own channel, for the scores of its clients that
/// have sessions, if it is connected. Where clients are of this process nobody
/// is asked.
messages::scores_under_way ask(const gateway_state& state,
                               const messages::scores_wanted& x);

} // namespace troupe::actors
