#pragma once

#include "actors/messages/internal.hpp"
#include "kernels/backend.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// Computes what a set of offers makes of a line: the sums, the server
/// optimiser's step, the digests. A function of the request alone.
result<messages::merge_finished> merge(kernels::backend& arithmetic,
                                       const models::layout& blocks,
                                       const messages::merge_requested& x);

} // namespace troupe::actors
