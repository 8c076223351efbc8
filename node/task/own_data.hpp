#pragma once

// What one client brings to a run that is served elsewhere: examples of its
// own, which must be such as the run learns from.

#include <filesystem>
#include <memory>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/language/language_data.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

struct own_data {
  std::shared_ptr<const models::dataset> data; ///< Null where there is text.
  models::partition rows;                      ///< Of one client.
  std::shared_ptr<const models::language_data> text = {};
};

/// Reads a CSV file, a folder with train.csv and test.csv, or the four files of
/// IDX, and holds them against what the run needs; of a run over texts one
/// user's. Returns `invalid_data`, with what would do.
[[nodiscard]] result<own_data> read_own_data(const experiment& x,
                                             const std::filesystem::path& path,
                                             const example_shape& wanted);

/// Its rows at the place of its number, where nobody else has any.
models::partition rows_of_one(const experiment& x, const own_data& mine,
                              client_id me);

/// A task in which this client alone has data. @pre mine.data is there
materials materials_of(const experiment& x, const own_data& mine, client_id me,
                       const example_shape& shape,
                       const model_maker& make_model);

} // namespace troupe::node
