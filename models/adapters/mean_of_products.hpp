#pragma once

// FlexLoRA's merge: what clients' adapters add to a model is averaged, and not
// their factors. No matrix of the model's size is made: the factors of all
// clients behind each other are those of the sum, of which the best of the
// block's rank is found in their small core.

#include <span>
#include <vector>

#include "core/result.hpp"
#include "models/adapters/adapter_factors.hpp"
#include "models/layout.hpp"

namespace troupe::models {

/// The values of a block of factors after these offers. Of each matrix the mean
/// of products has its largest singular values first: inner factors have length
/// one, and outer ones the values. A rank without a value keeps the inner
/// factor of `base`, and its outer one is zero: it can learn. Vectors are
/// averaged. An offer of the first ranks alone has nothing in the others.
/// Returns `invalid_config` if a factor is not followed by another of its
/// ranks.
/// @pre deltas are prefixes of the block, and their parts add up to one
[[nodiscard]] result<std::vector<float>>
mean_of_products(const block_layout& block, std::span<const float> base,
                 std::span<const merged_offer> offers);

} // namespace troupe::models
