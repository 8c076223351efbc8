#pragma once

// What a run leaves in its folder when it has ended.

#include <map>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "core/values.hpp"
#include "models/layout.hpp"
#include "node/watch/folder.hpp"
#include "node/watch/summary.hpp"

namespace troupe::node {

/// Writes the last values, those of the best version where there is one, and
/// summary.json, which knows these files by their digests.
[[nodiscard]] result<void>
leave_result(const run_folder& to, const models::layout& blocks,
             const std::map<block_id, shared_values>& last, run_summary& x);

/// Draws report.html and, where there are events, trace.json. A run without its
/// pages is no worse a run: its log says why there are none.
void show_pages(run_folder& of, bool has_events);

} // namespace troupe::node
