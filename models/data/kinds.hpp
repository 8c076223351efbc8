#pragma once

// What clients that share rows differ in: the kinds of their rows. A row's kind
// is its domain where the data has some, else its label.

#include <cstddef>
#include <string_view>

#include "models/data/deal.hpp"
#include "models/data/example_set.hpp"
#include "models/data/partition.hpp"

namespace troupe::models {

/// "labels" or "domains".
std::string_view name_of_kinds(const dataset& data);

/// Those that none of its rows has are counted, too.
std::size_t count_kinds(const dataset& data);

/// The rows of each kind, ascending. @pre `from` is a set of `data`
row_lists rows_by_kind(const dataset& data, const example_set& from);

/// Examples per client and kind: table[client][kind].
label_counts kind_table(const dataset& data, const partition& parts,
                        split part = split::train);

} // namespace troupe::models
