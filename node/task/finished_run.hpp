#pragma once

// What a run came to: its folder, read to use its values again.

#include <filesystem>
#include <vector>

#include "core/result.hpp"
#include "models/safetensors.hpp"
#include "models/trainer.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

struct finished_run {
  std::filesystem::path folder;
  experiment x;
  workload work;
  models::safetensors_file values; ///< Of its last versions.
};

/// Reads its configuration, its data and what it has of a common model, and of
/// its values the names alone. Returns `invalid_data` where there is no run, or
/// one that has not ended, or ended with other values, and what `load_config`
/// and `prepare` do.
[[nodiscard]] result<finished_run>
read_finished_run(const std::filesystem::path& folder,
                  const model_maker& make_model);

/// Reads the values of a travelling block.
[[nodiscard]] result<models::fetched_block> read_block(finished_run& from,
                                                       block_id id);

} // namespace troupe::node
