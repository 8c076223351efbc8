#pragma once

// What a made model and a step of its training take at least, held against the
// memory that there is before any of it is taken.

#include <cstdint>
#include <optional>

#include "core/result.hpp"
#include "models/language/spec.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// The most that this process can have: of the machine's memory and swap, and
/// of its control group's. Nothing: nobody says.
std::optional<std::uint64_t> memory_there();

/// Returns `invalid_config` where its weights take more.
[[nodiscard]] result<void> check_weights(const models::language_spec& x,
                                         std::optional<std::uint64_t> there);

/// Likewise of a batch of rows, where no number of rows bounds it.
[[nodiscard]] result<void> check_batch(const experiment& x,
                                       const models::language_spec& model,
                                       std::optional<std::uint64_t> there);

} // namespace troupe::node
