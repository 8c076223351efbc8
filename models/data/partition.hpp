#pragma once

// Who holds which examples. Training rows are dealt by one of the schemes
// below; each says how. Test rows follow: those of a class are dealt over the
// clients in proportion to their training rows of that class (rounded at
// random, without bias), so that a client's test shard has the label
// distribution of its training rows.
//
// For every scheme: each training row and each test row has exactly one owner,
// no client is without training rows, rows of a client are sorted, and equal
// options give equal partitions. A client may be without test rows, where there
// are few.

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// Shuffled and cut into equal parts.
struct iid_partition {};

/// The rows of each class are cut by a draw from Dirichlet(alpha) over the
/// clients. A client that falls short of `examples_min` then takes rows, one by
/// one, from whoever holds most.
struct dirichlet_partition {
  double alpha = 0.5;
};

/// Each client holds `count` classes, each class as many clients as any other
/// (one more or less); they share its rows evenly.
struct labels_partition {
  std::uint32_t count = 2;
};

/// McMahan et al. (2017): sorted by label, cut into equal shards, `count` of
/// them drawn for each client.
struct shards_partition {
  std::uint32_t count = 2;
};

/// Client k is in cluster k mod `clusters`, whose classes are those of the same
/// rest; its clients share their rows evenly, as they come.
struct disjoint_partition {
  std::size_t clusters = 10;
};

/// Sizes as draws from a lognormal distribution, labels as they come.
struct lognormal_partition {
  double sigma = 1;
};

/// Sizes as a power of the rank, rank^-exponent, labels as they come; ranks are
/// given to the clients at random.
struct power_partition {
  double exponent = 1;
};

/// A client per value of the partition column, in the order of the values.
struct column_partition {};

/// As the data says (`dataset::natural`), the test rows too.
struct natural_partition {};

using partitioner =
  std::variant<iid_partition, dirichlet_partition, labels_partition,
               shards_partition, disjoint_partition, lognormal_partition,
               power_partition, column_partition, natural_partition>;

struct partition_options {
  partitioner how = iid_partition{};
  /// 0: as many as there are, for `column_partition` and `natural_partition`.
  std::uint32_t clients = 100;
  std::uint32_t examples_min =
    1; ///< Training rows of every client; at least 1.
  std::uint32_t examples_max =
    0; ///< Rows above this are left out; 0: none are.
  /// Of its training rows each client keeps this share, but ten if it has them.
  /// The test rows are dealt as if it kept all.
  double train_share = 1;
  std::uint32_t held_out = 0; ///< The last so many only ever evaluate.
  /// The share of the training rows of clients that train (not below
  /// `examples_min`) that nobody trains on.
  double validation = 0;
  std::uint64_t seed = 0;
};

/// Returns `invalid_config` if the options are out of range or the data cannot
/// be dealt as they say.
[[nodiscard]] result<partition> make_partition(const dataset& data,
                                               const partition_options& opts);

/// Examples per client and class: table[client][class].
using label_counts = std::vector<std::vector<std::uint64_t>>;

label_counts label_table(const dataset& data, const partition& parts,
                         split part = split::train);

} // namespace troupe::models
