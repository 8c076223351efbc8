#pragma once

#include <functional>

#include "actors/messages/internal.hpp"
#include "kernels/backend.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// The values of a term that has none: they wait on disk.
using values_on_disk =
  std::function<result<shared_values>(line_id, visit_id, block_id)>;

/// Computes what a set of offers makes of a line: the sums, the server
/// optimiser's step, the digests. A function of the request alone. Sums take
/// terms that are on disk one after the other; a rule that compares them has
/// them all.
result<messages::merge_finished> merge(kernels::backend& arithmetic,
                                       const models::layout& blocks,
                                       const messages::merge_requested& x,
                                       const values_on_disk& on_disk = {});

} // namespace troupe::actors
