#pragma once

// Offers that wait on disk, or are lost with what was not: what lines, their
// clients, the director and the archivist say of them within the process.

#include <vector>

#include "actors/messages/internal.hpp"

namespace troupe::messages {

/// A client that has let go of its part's values asks what becomes of it.
struct part_awaited {
  visit_id visit;
  line_id line;
};

/// Asks for a part to be kept on disk until it is merged or refused.
struct keep_requested {
  part_offered what;
};

struct part_kept {
  line_id line;
  visit_id visit;
};

/// Asks for parts to be gone from there; those that are not there are.
struct drop_requested {
  line_id line;
  std::vector<visit_id> visits;
};

struct parts_dropped {
  line_id line;
  std::vector<visit_id> visits;
};

/// Asks for a part that is kept, with its values.
struct part_wanted {
  line_id line;
  visit_id visit;
};

/// A line waits for these of a round's list, and has them not.
struct parts_lacked {
  line_id line;
  round_number round;
  std::vector<visit_id> visits;
  std::vector<visit_id> refused = {}; ///< Of these: it takes them no more.
};

} // namespace troupe::messages
