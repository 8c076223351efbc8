#pragma once

// Names of layers, by which it is said what is adapted. A layer is what its
// tensors are called but for the last part: "fc1" has "fc1.weight" and
// "fc1.bias".

#include <span>
#include <string>
#include <string_view>

#include "core/key_places.hpp"
#include "core/result.hpp"
#include "models/adapters/adapters.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// The layer of a tensor; a tensor whose name has one part is its own.
std::string_view layer_of(std::string_view tensor);

/// Whether a layer goes by a name: by the whole of its own, or by its last part
/// or parts ("query" and "0.query" are both "encoder.0.query").
bool goes_by(std::string_view layer, std::string_view name);

/// Whether a layer is among those that are named. No names mean all layers.
bool is_named(std::string_view layer, std::span<const std::string> names);

/// What of these layers would do in the place of a name that none goes by, for
/// the end of a refusal: the nearest, and the first of what all go by.
std::string names_like(std::string_view name,
                       std::span<const std::string> layers);

/// Refuses a name by which no layer of the model goes, or only layers of which
/// the plan adapts nothing.
result<void> check_names(const tensor_list& model, const adapter_plan& plan,
                         std::span<const std::string> names,
                         const key_places& places = {});

} // namespace troupe::models
