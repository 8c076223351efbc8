#pragma once

// CSV with a header row (or, if that may lack, without): one column of labels,
// perhaps one that says who a row belongs to, and otherwise numbers.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

struct csv_options {
  /// The column of labels, integers from 0. Empty: there is none, and each row
  /// gets 0.
  std::string label = "label";
  std::string partition = {}; ///< The column to partition by; empty: none.
  char separator = ',';       ///< '\t' for TSV.
  std::int64_t classes = 0;   ///< 0: as many as the labels count.
  /// A first row of numbers alone is one of the rows. @pre no column is named
  bool may_lack_header = false;
};

struct csv_table {
  example_set
    examples; ///< One input `x`, the remaining columns in their order.
  std::vector<std::string> features; ///< Their names; empty without a header.
  bool has_header = true;
  std::size_t numbers_in_header = 0; ///< Its cells that are finite numbers.
  std::size_t first_line = 1; ///< Where its first row, or its header, stands.
  std::vector<std::string>
    partition; ///< A value per row, if there is a column.
};

/// Fields may be quoted, with "" for a quote; lines end in \n or \r\n; empty
/// lines are skipped. Returns `invalid_data` with origin, line, column, what
/// was found and what would do.
[[nodiscard]] result<csv_table> parse_csv(std::string_view text,
                                          std::string_view origin,
                                          const csv_options& opts);

struct csv_files {
  std::filesystem::path train;
  std::filesystem::path test =
    {}; ///< Empty: `test_share` of the training rows.
  double test_share = 0.1;
  std::uint64_t seed = 0; ///< Says which.
};

/// A partition column
/// of integers is taken as it is; of texts, as their places in sorted order.
[[nodiscard]] result<dataset> read_csv(const csv_files& files,
                                       const csv_options& opts);

} // namespace troupe::models
