#pragma once

#include <memory>

#include "core/result.hpp"
#include "models/language/base.hpp"
#include "models/language/language_config.hpp"
#include "models/language/token_rows.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// A language model over rows of tokens. Its loss is the mean cross-entropy
/// over the targets of a batch, in nats, and its scores count targets; a batch
/// without any has loss 0. Where blocks are routed it descends the balance of
/// loads too, if that has a slope, and no score has it. It computes in the
/// thread that calls it, whose torch it sets to one thread. Returns
/// `invalid_config` where base and rows do not fit, or the base has no head.
[[nodiscard]] result<std::unique_ptr<objective>>
make_language_objective(const language_config& config,
                        std::shared_ptr<const language_base> base,
                        std::shared_ptr<const token_rows> rows);

} // namespace troupe::models
