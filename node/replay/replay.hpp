#pragma once

// The function behind `troupe replay`: a run's record, recomputed.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "models/trainer.hpp"
#include "node/config/experiment.hpp"
#include "node/replay/comparison.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

struct replay_progress {
  double done = 0; ///< Share of the record.
  std::uint64_t line = 0;
  std::uint64_t equal = 0;
};

/// What there was at some moment of a run, clients' own among it.
struct replayed_moment {
  version head; ///< Of the lead line; 0: there is none.
  models::evaluation_input there;
};

struct replay_context {
  model_maker make_model;       ///< Of every kind but the quadratic.
  std::string fingerprint = {}; ///< Of this process.
  /// Told before anything is computed that digests may differ, and what of the
  /// record is left out.
  std::function<void(const std::string&)> note;
  std::function<void(const replay_progress&)> show; ///< After each event.
  /// Null: it is prepared from the configuration.
  const workload* work = nullptr;
  /// Shown what there was at each version that the run evaluated, and what
  /// there is at the end if nothing differs: once, where that is the same, and
  /// again, where last visits came behind. What it fails with ends the replay.
  /// May be empty.
  std::function<result<void>(const replayed_moment&)> look = {};
};

/// Why no score of a run's end can be compared.
enum class unscored {
  none,      ///< Some were, or there are digests.
  unended,   ///< The run did not come to its end.
  under_way, ///< Visits were, when it ended: nothing says how far they came.
  never,     ///< It was not scored.
  of_others, ///< Others were than are scored here.
};

struct replay_summary {
  comparison digests; ///< Of all that the record holds.
  /// Of the last evaluation, where the record has no digest.
  comparison scores = {};
  unscored why_none = unscored::none;
  /// The line of the first difference, or where it stopped.
  std::uint64_t differs_at = 0;
  std::string differs_in = "events.jsonl"; ///< The file.
  /// What is not here and would be computed with; empty: it has all.
  std::string stopped_by = {};
  bool ended = false;       ///< The record says that the run ended.
  bool interrupted = false; ///< It does not, and the run was interrupted.
  /// Of the last merge of each adapter, by block: see `models::product_gap`.
  std::map<std::string, double> product_gap = {};
};

/// Whether its record was followed to its end, and has neither a digest nor a
/// score that was compared: nothing says that it is the record of this run.
bool compared_nothing(const replay_summary& x);

/// For people: what run would have something to compare. @pre compared_nothing
std::string has_scores(const replay_summary& x);

/// Recomputes what `<folder>/events.jsonl` says, from nothing but that and the
/// configuration `x` of the run. It ends at the first difference, since what
/// follows builds on it. Returns `invalid_data` that names the line if the
/// record is damaged; half a line at its end, as a kill leaves it, is not.
/// Where the folder says how the run ended, the record must reach that end, and
/// be of what summary.json and the ledger say. Where nothing was sent, and the
/// record has no digest, the scores of the run's end are compared. It stops at
/// an offer that a client made of data of its own, and that the folder has not.
[[nodiscard]] result<replay_summary> replay(const experiment& x,
                                            const std::filesystem::path& folder,
                                            const replay_context& in);

} // namespace troupe::node
