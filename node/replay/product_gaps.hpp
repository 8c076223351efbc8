#pragma once

#include <map>
#include <string>

#include "actors/messages/internal.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Notes of each adapter in a merge how far the mean of its products is from
/// the product of its mean factors (`models::product_gap`), by block.
void note_product_gaps(const messages::merge_requested& x, const workload& w,
                       std::map<std::string, double>& to);

} // namespace troupe::node
