#pragma once

#include <cstddef>
#include <functional>

#include "actors/messages/internal.hpp"
#include "kernels/backend.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// The values of a term that has none: they wait on disk.
using values_on_disk = std::function<result<shared_values>(
  line_id, visit_id, block_id, values_part)>;

/// Computes what a set of offers makes of a line: the sums, the server
/// optimiser's step, the digests. A function of the request alone. Sums take
/// terms that are on disk one after the other; a rule that compares them has
/// them all.
/// @param values_at_once of a block whose values do not look at each other: it
/// is summed part by part, since a sum takes twice what its values do
result<messages::merge_finished>
merge(kernels::backend& arithmetic, const models::layout& blocks,
      const messages::merge_requested& x, const values_on_disk& on_disk = {},
      std::size_t values_at_once = std::size_t{1} << 22);

} // namespace troupe::actors
