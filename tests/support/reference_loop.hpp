#pragma once

// Federated learning as a plain loop: one thread, round after round, each
// client in turn. It shares the trainer and the layout with the runtime and
// nothing else: the merge is written again, in integers on the grid, and the
// server's optimisers in plain double. Under `sync` with full quorum the actors
// must arrive at the same bits.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/recipe.hpp"
#include "kernels/backend.hpp"
#include "models/layout.hpp"
#include "models/trainer.hpp"

namespace troupe::test {

/// One invitation of a round.
struct invited {
  client_id client;
  std::uint64_t seed = 0;
  double progress = 0;
  std::uint32_t role = 0;
};

struct reference_options {
  recipe method;
  models::layout blocks;
  std::map<std::string, shared_values> initial; ///< By block name.
  kernels::server_step server = {};
  std::uint64_t admitted = 1; ///< The N of `sum_over`.
};

/// One version of a line: the values of its blocks, in the line's order.
struct reference_version {
  std::vector<shared_values> values;
  std::vector<double>
    moments; ///< Of the server's optimiser, block after block.
  std::vector<visit_id> merged; ///< Sorted.
};

class reference_loop {
public:
  reference_loop(models::trainer& trainer, reference_options how);

  /// Every client of the cohort visits the same versions; then each line that
  /// was offered something merges once. Every offer counts as accepted. Returns
  /// the first error of the trainer, and then nothing has changed.
  result<void> round(std::span<const invited> cohort);

  /// A client visits the heads once more, and nothing is merged.
  result<void> last_visit(const invited& who);

  /// Versions of a line, from 0.
  const std::vector<reference_version>& line(line_id x) const;

  /// A block's values at the head of its line.
  const value_view& values(std::string_view block) const;

  /// What a client keeps; null before its first visit.
  std::shared_ptr<const models::client_state> state(client_id x) const;

  /// Scores of the heads, and of the clients at home.
  result<models::evaluated> evaluate(bool per_client = false) const;

  /// Mean loss of the visits of the last round.
  double loss() const noexcept {
    return loss_;
  }

private:
  struct finished_visit {
    visit_id visit;
    models::trained result;
  };

  const shared_values& head_of(block_id x) const;
  models::fetched_block fetch(block_id x) const;
  std::vector<block_id> instances(const fetch_spec& what, const invited& who,
                                  const models::choice& last) const;
  result<finished_visit> visit(const invited& who) const;
  void merge(const models::line_layout& line,
             std::span<const finished_visit> visits);

  models::trainer& trainer_;
  reference_options how_;
  std::map<line_id, std::vector<reference_version>> lines_;
  std::map<client_id, std::shared_ptr<const models::client_state>> states_;
  std::map<client_id, visit_number> numbers_;
  double loss_ = 0;
};

} // namespace troupe::test
