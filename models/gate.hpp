#pragma once

// The gate that a recipe has over a common model: what shape it is, what it
// begins with, and how experts begin that begin as that model. What it computes
// stands in kernels/gate.hpp.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "core/recipe.hpp"
#include "core/result.hpp"
#include "core/values.hpp"
#include "kernels/backend.hpp"
#include "models/layout.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// The gate that a recipe has over a common model; none if it has no block
/// `gate`. Returns `invalid_config` where that model has no embeddings. @param
/// common null: there is none
result<std::optional<kernels::gate_shape>>
gate_for(const recipe& method, const options& said, objective* common);

/// Of a gate, in the order of its flat values.
tensor_list tensors_of(const kernels::gate_shape& x);

/// Uniform within one over the root of a layer's inputs, as torch begins linear
/// layers.
std::vector<float> initial_gate(const kernels::gate_shape& x,
                                std::uint64_t seed);

/// Lets experts begin as the common model, with its `parameters` and `buffers`,
/// where the recipe's options say so, and adds normal noise to how they begin
/// where these say that. Returns `invalid_config` if the two models have other
/// tensors.
result<void> begin_as_common(const recipe& method, const options& said,
                             const layout& blocks, const objective& experts,
                             const objective& common,
                             const shared_values& parameters,
                             const shared_values& buffers, std::uint64_t seed,
                             std::map<block_id, shared_values>& initial);

} // namespace troupe::models
