#pragma once

// A run that takes milliseconds and leaves all of its files.

#include <filesystem>
#include <memory>

#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/objective.hpp"
#include "node/config/experiment.hpp"

namespace troupe::damage {

struct finished_run {
  node::experiment x;
  std::filesystem::path folder;
};

/// Makes it in a new folder below `above`.
finished_run small_run(const std::filesystem::path& above);

/// Its model needs no torch.
result<std::unique_ptr<models::objective>>
no_model(const node::model_options&, std::shared_ptr<const models::dataset>);

} // namespace troupe::damage
