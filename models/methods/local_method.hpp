#pragma once

// What a local method consists of. Each stands in a file of this folder, named
// for its idea; recipes name it as it is called in the table.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "models/procedure.hpp"
#include "models/visit/task.hpp"

namespace troupe::models {

class visit;

struct local_method {
  /// Between fetch and offer. A function of the visit: random draws come from
  /// its seed. Deltas are taken against what was fetched.
  task<done> (*train)(visit& v) = nullptr;

  /// Between two legs, or before the offer.
  task<choice> (*choose)(visit& v) = nullptr;

  /// Makes live what a client would use itself, where that is neither the
  /// shared model nor one that it keeps. Client 0 is nobody: the model that a
  /// newcomer would use.
  task<done> (*home)(visit& v) = nullptr;

  /// Scores rows as a client would itself, where no one model does so.
  task<scores> (*score)(visit& v, split part,
                        std::span<const std::uint32_t> rows) = nullptr;

  /// Adds what can be said about all clients together to `to.method_results`.
  void (*summary)(const evaluation_input& x, const local_problem& on,
                  evaluated& to) = nullptr;

  /// How many steps it makes of a planned one, where that is not one.
  std::uint64_t (*passes)(const training_options& how) = nullptr;

  /// Returns `invalid_config`, with what would do, where it cannot learn by the
  /// configured optimiser: each visit would fail.
  result<void> (*needs)(const recipe& method,
                        const training_options& how) = nullptr;

  /// Its base may learn beside factors that stand inside the model's layers.
  bool learns_around = false;

  /// Says what rows are, which lie in the training set and have no labels that
  /// it may look at. The visit has chosen as `choose` would, and fetched no
  /// more than that. Without it the shared model answers.
  task<answers> (*answer)(visit& v,
                          std::span<const std::uint32_t> rows) = nullptr;
};

using method_table = std::map<std::string, local_method, std::less<>>;

/// All that is built in; tests add theirs.
const method_table& local_methods();

} // namespace troupe::models
