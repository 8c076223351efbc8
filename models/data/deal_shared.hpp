#pragma once

// Partitions in which clients share rows: of combinations of kinds, and of
// mixtures of all kinds. A client that trains draws its rows of a kind from all
// rows of it, none of them twice. The test rows of those kinds are dealt over
// the clients that train, as by the other schemes; a client that is held out
// has no training rows, and test rows that others have as well: all of its
// kinds, or, of a mixture, a fifth as many as a client that trains has rows.

#include "core/random.hpp"
#include "core/result.hpp"
#include "models/data/deal.hpp"
#include "models/data/example_set.hpp"
#include "models/data/partition.hpp"

namespace troupe::models {

bool shares_rows(const partitioner& how) noexcept;

/// Training rows, test rows and owners; lists are in no order. Clients may fall
/// short of `examples_min`. Returns `invalid_config` if the data cannot be
/// shared out so. @pre shares_rows(opts.how), and `opts` is in range otherwise
[[nodiscard]] result<partition> deal_shared(const dataset& data,
                                            const partition_options& opts);

/// Takes a share of the rows away from all who hold them and train, but none
/// that would leave one of them with fewer than `examples_min`. Returns what
/// each held.
row_lists set_aside_shared(partition& from, const partition_options& opts,
                           random_stream random);

} // namespace troupe::models
