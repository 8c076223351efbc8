#pragma once

// Blocks that nobody trains and no message of a visit carries: known by their
// digests.

#include <map>
#include <string>

#include "core/result.hpp"
#include "models/layout.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

models::digest digest_of(const shared_values& frozen);

/// Of a task's frozen blocks, by name.
std::map<std::string, models::digest> frozen_digests(const workload& work);

/// Gives the task other values of a frozen block: its layout is another then,
/// and what was seen through those before is forgotten. @pre it has the block,
/// of as many values
void set_frozen(workload& work, const std::string& name, shared_values values);

} // namespace troupe::node
