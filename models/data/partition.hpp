#pragma once

// Who holds which examples. Training rows are dealt by one of the schemes
// below; each says how. Test rows follow: those of a class are dealt over the
// clients in proportion to their training rows of that class (rounded at
// random, without bias), so that a client's test shard has the label
// distribution of its training rows.
//
// For every scheme: no client that trains is without training rows, rows of a
// client are sorted, and equal options give equal partitions. A client may be
// without test rows, where there are few.
//
// For every scheme but the last two each training row and each test row has
// exactly one owner. Clients of those two share training rows, test rows are
// shared by clients that are held out, some rows may be nobody's, and who is
// held out has no training rows (`models/data/deal_shared.hpp`).

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

/// Clients of combinations of kinds (labels, or domains where the data has
/// some), whose rows they share.
struct combinations_partition {
  std::uint32_t kinds = 4; ///< Of a client.
  /// The first so many hold kinds that no other anchor has, together all of
  /// them.
  std::uint32_t anchors = 0;
  /// Each client holds all rows of its kinds (full_label); else as many as
  /// `rows` (equal_share).
  bool all_rows = false;
  /// Of a client; 0: the training rows over the clients that train.
  std::uint32_t rows = 0;
  /// Above 0: so many of each kind, in the place of `rows`.
  std::uint32_t rows_per_kind = 0;
  /// Held-out clients have combinations that nobody trains on.
  bool unseen = true;
  /// So many combinations are kept for them, of each group; 0: one for each.
  std::uint32_t withheld = 0;
  /// Client k is in group (k - 1) mod groups; each has kinds of its own.
  std::uint32_t groups = 1;
};

/// Each client has parts of all kinds by a draw from Dirichlet(alpha), and rows
/// drawn by it; clients share rows.
struct mixtures_partition {
  double alpha = 0.1;
  std::uint32_t anchors = 0; ///< The first so many, drawn as all others are.
  /// Of a client; 0: the training rows over the clients that train.
  std::uint32_t rows = 0;
};

using partitioner =
  std::variant<iid_partition, dirichlet_partition, labels_partition,
               shards_partition, disjoint_partition, lognormal_partition,
               power_partition, column_partition, natural_partition,
               combinations_partition, mixtures_partition>;

struct partition_options {
  partitioner how = iid_partition{};
  /// 0: as many as there are, for `column_partition` and `natural_partition`.
  std::uint32_t clients = 100;
  /// Training rows of every client that trains; at least 1.
  std::uint32_t examples_min = 1;
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
