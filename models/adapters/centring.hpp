#pragma once

#include <span>
#include <vector>

#include "core/result.hpp"
#include "models/adapters/adapters.hpp"

namespace troupe::models {

/// Moves what all adapters have in common into the base: it gains the mean of
/// the products and vectors, and each adapter keeps the rest, so that a mixture
/// whose shares add up to one stays the same model. The rest of a product is
/// cut to the adapter's rank, which loses what its further singular values
/// were; vectors lose nothing. A rank without a value begins again: it keeps
/// the factor that is drawn at random, and the other one is zero.
[[nodiscard]] result<void> centre(const adapter_plan& plan,
                                  kernels::backend& arithmetic,
                                  kernels::array base,
                                  std::span<std::vector<float>> adapters);

} // namespace troupe::models
