#pragma once

// Where the lines of a run stand.

#include <map>

#include "actors/record/store.hpp"
#include "node/watch/chronicle.hpp"

namespace troupe::node {

using heads = std::map<line_id, messages::version_published>;

std::map<block_id, shared_values> values_in(const heads& lines);

/// As a run begins or goes on: what is durable of it.
/// @param offers whether its visits do, so that a round without a version does
/// not count
[[nodiscard]] progress_report beginning_of(const actors::stored_node& found,
                                           bool offers);

/// Visits of which some line has merged a part, as far as windows reach.
[[nodiscard]] policies::visit_windows
merged_in(const actors::stored_node& found);

} // namespace troupe::node
