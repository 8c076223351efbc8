#pragma once

// Who holds which examples, as a configuration says it.

#include <cstdint>
#include <string>

namespace troupe::node {

struct partition_options {
  enum class rule : std::uint8_t {
    iid,
    dirichlet,
    labels,
    shards,
    disjoint,  ///< By `data_options::clusters`.
    size_skew, ///< Lognormal sizes.
    power,     ///< Sizes as a power of the rank.
    column,
    natural,      ///< As the data says.
    combinations, ///< Clients share rows of some labels, or domains.
    mixtures,     ///< Clients share rows of all of them.
    sorted,       ///< A part of the rows sorted by label. Of labelled texts.
  };
  enum class sizing : std::uint8_t { equal_share, full_label };
  /// What `sorted_fraction` is of.
  enum class fraction_rule : std::uint8_t {
    heterogeneity, ///< The rows that are sorted.
    iid,           ///< The rows that are not, as the protocol's text has it.
  };

  /// How test rows are dealt. Of labelled texts.
  enum class test_rule : std::uint8_t { as_training, even };

  rule kind = rule::iid;
  double alpha = 0.5;
  std::uint32_t labels_per_client = 2;
  std::uint32_t shards_per_client = 2;
  double skew = 1;
  std::string column = {};
  std::uint32_t samples_per_client = 0; ///< At most; 0: all.
  double train_share = 1;
  // Of `combinations`; anchors and rows also of `mixtures`.
  std::uint32_t kinds_per_client = 4;
  std::uint32_t anchors = 0;
  sizing sizes = sizing::equal_share;
  std::uint32_t rows_per_client = 0; ///< 0: as many as there are for each.
  std::uint32_t rows_per_kind = 0;   ///< 0: `rows_per_client` says it.
  bool unseen = true;
  std::uint32_t withheld = 0; ///< 0: a combination for each held-out client.
  std::uint32_t groups = 1;
  // Of `sorted`.
  double sorted_fraction = 0.9;
  fraction_rule reading = fraction_rule::heterogeneity;
  // Of what is dealt by label.
  test_rule tests = test_rule::as_training;

  /// Of the rows, so many are dealt by their label.
  double sorted_rows() const noexcept {
    return reading == fraction_rule::iid ? 1 - sorted_fraction
                                         : sorted_fraction;
  }

  /// Whether test rows could be dealt otherwise.
  bool deals_labels() const noexcept {
    return kind == rule::sorted || kind == rule::labels
           || kind == rule::dirichlet;
  }

  bool shares_rows() const noexcept {
    return kind == rule::combinations || kind == rule::mixtures;
  }
};

} // namespace troupe::node
