#pragma once

// What one client brings to a run that is served elsewhere: examples of its
// own, which must be such as the run learns from.

#include <filesystem>
#include <memory>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

struct own_data {
  std::shared_ptr<const models::dataset> data;
  models::partition rows; ///< Of one client.
};

/// Reads a CSV file, a folder with train.csv and test.csv, or the four files of
/// IDX, and holds them against what the run needs. Returns `invalid_data`, with
/// what would do.
[[nodiscard]] result<own_data> read_own_data(const experiment& x,
                                             const std::filesystem::path& path,
                                             const example_shape& wanted);

/// A task in which this client alone has data.
materials materials_of(const experiment& x, const own_data& mine, client_id me,
                       const example_shape& shape,
                       const model_maker& make_model);

} // namespace troupe::node
