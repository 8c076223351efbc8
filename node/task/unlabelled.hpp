#pragma once

// Examples that nobody has labelled: what a client brings that only wants
// answers.

#include <filesystem>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

struct unlabelled_rows {
  std::shared_ptr<const models::dataset> data;
  /// A table without a header.
  bool first_line_is_a_row = false;
  std::string note = {}; ///< What a header is doubted by; else empty.
};

/// Reads a file of images (IDX, also in gzip) or a table (CSV, its name ends in
/// .csv) of inputs alone, with a header unless its first line is numbers alone.
/// They are the training examples, each with the label 0, which means nothing.
/// Returns `invalid_data` if they are none, or others than the run learned
/// from.
[[nodiscard]] result<unlabelled_rows>
read_unlabelled(const experiment& x, const std::filesystem::path& path,
                const example_shape& wanted);

} // namespace troupe::node
