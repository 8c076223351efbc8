#pragma once

#include <optional>

#include "actors/messages/internal.hpp"
#include "core/clock.hpp"

namespace troupe::actors {

/// Whoever watches a run from outside. Called on an actor's thread, so an
/// implementation that others read from brings its own lock.
class audience {
public:
  virtual ~audience() = default;
  virtual void published(const messages::version_published& x, instant at) = 0;
  virtual void failed(const messages::client_failed& x, instant at) = 0;
  virtual void evaluated(const messages::evaluation_finished& x,
                         instant at) = 0;

  /// The last call. `last` is absent if the final versions could not be scored.
  virtual void
  finished(const messages::run_finished& x,
           const std::optional<messages::evaluation_finished>& last,
           instant at) = 0;
};

} // namespace troupe::actors
