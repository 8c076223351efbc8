#pragma once

#include <optional>

#include "core/json.hpp"
#include "node/task/workload.hpp"
#include "node/watch/summary.hpp"

namespace troupe::node {

/// The object of summary.json: what clients' factors cost as publications count
/// it, beside what was measured. None where no factors stand inside a language
/// model, or they are averaged experts.
std::optional<json> language_costs_in(const workload& of,
                                      const run_summary& measured);

} // namespace troupe::node
