#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "actors/messages/internal.hpp"
#include "core/clock.hpp"

namespace troupe::actors {

/// The newest version of each line.
using version_heads = std::map<line_id, messages::version_published>;

/// Whoever watches a run from outside. Called on an actor's thread, so an
/// implementation that others read from brings its own lock.
class audience {
public:
  virtual ~audience() = default;
  virtual void published(const messages::version_published& x, instant at) = 0;
  virtual void failed(const messages::client_failed& x, instant at) = 0;
  virtual void counted(const messages::round_counted& x, instant at) = 0;

  /// @param scored the lines as they were at the instant that was scored
  virtual void evaluated(const messages::evaluation_finished& x,
                         const version_heads& scored, instant at) = 0;

  /// One that was due was not made: evaluations take longer than versions.
  virtual void left_out(version head, instant at) = 0;

  /// The last round that was scored, also before this process; 0: none was.
  virtual std::uint64_t rounds_scored() const {
    return 0;
  }

  /// The last call. `last` is absent if the final versions could not be scored.
  virtual void
  finished(const messages::run_finished& x,
           const std::optional<messages::evaluation_finished>& last,
           instant at) = 0;
};

} // namespace troupe::actors
