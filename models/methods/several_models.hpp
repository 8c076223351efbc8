#pragma once

// Whole models of which a client uses several at once.

#include <functional>
#include <span>
#include <vector>

#include "models/aligned.hpp"
#include "models/methods/visit_blocks.hpp"
#include "models/outputs.hpp"

namespace troupe::models {

/// The outputs of the model of this problem. Returns `invalid_config` where it
/// has none, or has buffers, of which there would be as many as models.
result<model_outputs*> outputs_of(const local_problem& on);

/// All fetched instances of `model`, in the order of their blocks.
result<std::vector<base_block>> models_of(const visit_input& x,
                                          const local_problem& on);

/// The same of a client that is scored.
std::vector<std::span<const float>> models_of(const home& x,
                                              const local_problem& on);

/// How what several models say becomes one.
enum class blend : std::uint8_t {
  outputs, ///< Sums of what they say, by shares.
  chances, ///< Sums of the chances they give; numbers as above.
};

/// Scores rows by what the models with a share above 0 together say of them,
/// each of which becomes live.
result<scores> score_together(std::span<const std::span<const float>> models,
                              std::span<const double> shares, blend how,
                              local_problem& on, split part,
                              std::span<const std::uint32_t> rows);

} // namespace troupe::models
