#pragma once

// What a run waits for.

#include <string>

#include "actors/metrics/process_status.hpp"

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
///   rebuilding  an actor broke, and all of them are made anew
///   storing, merging, ending, starting
struct wait {
  std::string code;
  std::string what;
  std::string ends;
  std::int64_t since_ms = 0; ///< Since 1970.
};

/// The most telling of all that it waits for.
wait why(const run_status& x);

/// Says of a served run who is kept out or is slow, too.
wait why(const seen_run& x);

/// The same of a process with clients of a run that is served elsewhere; of its
/// own codes there are
///
///   connection  nobody answers, or the connection is lost
///   server      it said that it will be back
///   making      the model and data that the server's terms name
///   transfer    what is large is under way
///   invitation  its clients are here, and none is invited
wait why(const process_status& x);

} // namespace troupe::actors
