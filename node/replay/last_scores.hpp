#pragma once

// What a run ended with where nothing was sent, so that there are no digests:
// what clients are worth, scored again.

#include "core/json.hpp"
#include "models/trainer.hpp"
#include "node/config/experiment.hpp"
#include "node/replay/comparison.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// The figures of the last evaluation that `summary`, that of a run which came
/// to its end, has or `found` makes: they must be the same to the bit, and one
/// that only one of the two has differs. None where the run was not scored, or
/// where `summary` is of other clients than are scored here.
comparison compare_last_scores(const json& summary,
                               const models::evaluated& found,
                               const experiment& x, const workload& w);

} // namespace troupe::node
