#pragma once

// What rows are labelled with, for whoever reports more of a model than how
// many of them it has right.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/objective.hpp"

namespace troupe::models {

/// Names of the tensors of a layer that says what a row is begin so, and no
/// others'.
inline constexpr std::string_view head_prefix = "head.";

/// What became of rows that were judged.
struct label_tally {
  std::uint64_t rows = 0;
  /// classes x classes: rows of each class, by what they were taken for.
  std::vector<std::uint64_t> taken_for = {};
  double overlap = 0; ///< Of spans: F1 of their places, added up over rows.
  /// Rows of them whose answers are known as texts; of these texts exact
  /// matches and F1 as SQuAD's script counts them, added up likewise.
  std::uint64_t told = 0;
  double exact = 0, f1 = 0;
};

/// The side of an objective whose rows have labels.
class model_labels {
public:
  virtual ~model_labels() = default;

  /// 0: a label is a span of tokens, and no class.
  virtual std::size_t classes() const noexcept = 0;

  /// @pre classes() > 0
  virtual std::size_t class_of(split part, std::uint32_t row) const = 0;

  /// Of rows of the test set, since the last call.
  virtual label_tally take_tally() = 0;
};

} // namespace troupe::models
