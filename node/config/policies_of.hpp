#pragma once

// What a configuration's plain values mean for those who decide.

#include <cstddef>

#include "models/data/partition.hpp"
#include "node/config/experiment.hpp"
#include "policies/devices.hpp"
#include "policies/selection.hpp"

namespace troupe::node {

policies::selection selection_of(const selection_options& x);

models::partitioner partitioner_of(const partition_options& x,
                                   std::size_t clusters);

/// Of all kinds but `trace`, which is read from its file.
policies::speed_distribution speed_of(const speed_options& x);

} // namespace troupe::node
