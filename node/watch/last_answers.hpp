#pragma once

#include "actors/metrics/status.hpp"
#include "node/watch/board.hpp"

namespace troupe::node {

/// What the actors of a run said last of where they stand. Who has not answered
/// yet is where it was.
class last_answers {
public:
  /// Looks at the draft that is being filled, and once more at the one before:
  /// who is slow may have answered since. What is older is not looked at again,
  /// or counts would go back.
  /// @param x null: there is none yet
  /// @return whether the director has answered, who had not
  bool look_at(status_desk::draft x);

  const actors::status_draft::parts& all() const noexcept {
    return parts_;
  }

private:
  bool take(const status_desk::draft& x);

  status_desk::draft last_;
  status_desk::draft answered_; ///< The last that the director has answered.
  actors::status_draft::parts parts_;
};

} // namespace troupe::node
