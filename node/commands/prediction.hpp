#pragma once

// What a run says to a client that it never knew: legs as in a visit, of which
// no more is read than was asked for.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/trainer.hpp"
#include "node/task/finished_run.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

struct prediction {
  models::answers said; ///< Of each row.
  /// Instances of the family `model` that were asked for, best first; empty
  /// where nothing is chosen.
  std::vector<std::uint32_t> experts;
  std::uint64_t bytes_read = 0; ///< Of the values of the run.
  /// The inputs are a table without a header.
  bool first_line_is_a_row = false;
  std::string note = {}; ///< What its header is doubted by; else empty.
};

/// Refuses a run that cannot answer a stranger: `invalid_config`, with what
/// would do.
[[nodiscard]] result<void> check_predicts(const finished_run& run);

/// @pre `check_predicts`, and `data` are such as the run learned from
[[nodiscard]] result<prediction>
predict(finished_run& run, std::shared_ptr<const models::dataset> data,
        const model_maker& make_model);

} // namespace troupe::node
