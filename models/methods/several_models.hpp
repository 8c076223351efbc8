#pragma once

// Whole models of which a client uses several at once.

#include <span>
#include <vector>

#include "models/visit/visit.hpp"

namespace troupe::models {

using row_span = std::span<const std::uint32_t>;

/// Returns `invalid_config` where the model has no outputs.
result<void> check_outputs(const visit& v);

/// All instances of `model` that were fetched, in the order of their blocks.
/// Returns `invalid_config` where the model has no outputs, or has buffers, of
/// which there would be as many as models.
result<std::vector<base_block>> models_of(const visit& v);

/// How what several models say becomes one.
enum class blend : std::uint8_t {
  outputs, ///< Sums of what they say, by shares.
  chances, ///< Sums of the chances they give; numbers as above.
};

struct several {
  std::span<const base_block> models;
  std::span<const double> shares;
  blend how = blend::outputs;
  /// Of each model its own; empty: those that are live.
  std::span<const base_block> buffers = {};
};

/// Scores rows by what the models with a share above 0 together say of them,
/// each of which becomes live. @pre the model has outputs
task<scores> score_together(visit& v, several by, split part, row_span rows);

} // namespace troupe::models
