#pragma once

// Which part of a transformer's block a tensor is of. The names are those of
// every architecture that is read; a factor goes by its layer's.

#include <span>
#include <string_view>

#include "models/adapters/adapters.hpp"

namespace troupe::models {

bool is_of_attention(std::string_view tensor);

bool is_of_feed_forward(std::string_view tensor);

/// Puts what `from` has of attention in its place in another of the same plan.
/// An adapter of attention alone is left: nothing else is there.
/// @pre both have the plan's size
void put_attention(const adapter_plan& plan, std::span<const float> from,
                   std::span<float> to);

} // namespace troupe::models
