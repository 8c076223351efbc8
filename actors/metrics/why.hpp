#pragma once

// What a run waits for.

#include <string>

#include "actors/metrics/status.hpp"

namespace troupe::actors {

/// A wait with its owner and its end, in whole sentences. `code` is for
/// programs:
///
///   nothing     it is under way, or over
///   no_clients  nobody is here, or not all that it begins with
///   quorum      a round that cannot get the offers it needs
///   no_offers   rounds or windows pass without one
///   offers      a round, window or buffer that fills
///   stale       what comes is too stale
///   worker      a worker that is at one visit for long
///   disk        what must be durable cannot be stored
///   merge       a merge that fails
///   busy        the run's own thread is at something and does not answer
///   storing, merging, ending, starting
struct wait {
  std::string code;
  std::string what;
  std::string ends;
  std::int64_t since_ms = 0; ///< Since 1970.
};

/// The most telling of all that it waits for.
wait why(const run_status& x);

} // namespace troupe::actors
