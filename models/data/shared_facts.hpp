#pragma once

// What a partition in which clients share rows promises, as its rows show it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/data/combinations.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

struct shared_facts {
  std::uint64_t shared_rows = 0; ///< Training rows that several clients have.
  /// Of each client: of its training rows, or, held out, of its test rows.
  std::vector<kind_set> kinds;
  bool anchors_disjoint = true; ///< No kind is of two anchors.
  bool anchors_cover = true;    ///< Each kind of a training row is of one.
  /// The combinations of clients that are held out, each once, ascending.
  std::vector<kind_set> withheld;
  std::size_t seen = 0; ///< Of these, as one has that trains.

  /// No client that is held out has just the kinds of one that trains.
  bool unseen() const noexcept {
    return seen == 0;
  }
};

/// @pre each row is one of `data`, and there are as many clients as anchors
shared_facts facts_of(const dataset& data, const partition& parts,
                      std::size_t anchors);

} // namespace troupe::models
