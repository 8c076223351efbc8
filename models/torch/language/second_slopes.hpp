#pragma once

// Two functions inside a layer, with second slopes that are written out. Torch
// has them by operators, which make a tensor for each term of a formula: half
// of what bending a gradient costs beside its products.
//
// Values and first slopes are those of the operators to the bit. A third slope
// is theirs altogether.

#include <ATen/core/Tensor.h>

namespace troupe::models {

/// silu(gate) * up.
at::Tensor gated_by_silu(const at::Tensor& up, const at::Tensor& gate);

/// The softmax of what stands along the last place.
at::Tensor softmax_of_last(const at::Tensor& scores);

} // namespace troupe::models
