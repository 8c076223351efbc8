#pragma once

// Where the lines of a run stand.

#include <map>

#include "actors/record/store.hpp"

namespace troupe::node {

using heads = std::map<line_id, messages::version_published>;

std::map<block_id, shared_values> values_in(const heads& lines);

/// As a run begins or goes on.
heads first_lines(const actors::stored_node& found);

} // namespace troupe::node
