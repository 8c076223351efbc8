#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/interfaces.hpp"
#include "tests/support/sim/faults.hpp"

namespace troupe::test {

/// How far the version after the head has come, as seen from outside.
class progress_of_lines {
public:
  enum class stage { collecting, merging, merged, stored };

  void reach(line_id line, stage x) {
    stages_[line] = x;
  }

  std::string phase(line_id line) const;

  void forget() {
    stages_.clear();
  }

private:
  std::map<line_id, stage> stages_;
};

/// A merger that fails or stays silent, in front of one that does not.
actors::merger_actor faulty_merger(caf::actor_system& system, chances& luck,
                                   progress_of_lines& progress,
                                   const actors::merger_actor& behind,
                                   std::vector<caf::actor>& spawned);

/// An archivist that fails before or after it has stored, or stays silent.
actors::archivist_actor faulty_archivist(caf::actor_system& system,
                                         chances& luck,
                                         progress_of_lines& progress,
                                         const actors::archivist_actor& behind,
                                         std::vector<caf::actor>& spawned);

} // namespace troupe::test
