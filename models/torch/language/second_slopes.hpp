#pragma once

// Functions inside a layer and behind the last, with second slopes that are
// written out. Torch has them by operators, which make a tensor for each term
// of a formula: half of what bending a gradient costs beside its products.
//
// Values and first slopes are those of the operators to the bit, but for
// rms_norm_by_frozen and summed_cross_entropy, which are within rounding of
// them: 1e-6 of a float. A third slope is theirs altogether.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace troupe::models {

struct open_product;

/// silu(gate) * up.
at::Tensor gated_by_silu(const at::Tensor& up, const at::Tensor& gate);

/// The softmax of what stands along the last place.
at::Tensor softmax_of_last(const at::Tensor& scores);

/// rms_norm. @pre the weight requires no gradient, and is of the type of x
at::Tensor rms_norm_by_frozen(const at::Tensor& x, const at::Tensor& weight,
                              double epsilon);

/// layer_norm; the bias may be undefined. @pre likewise
at::Tensor layer_norm_by_frozen(const at::Tensor& x, const at::Tensor& weight,
                                const at::Tensor& bias, double epsilon);

/// Of logits [n x classes] and targets [n], Long, which are among the classes.
/// The logits of so many rows are there at once, also while slopes are bent.
at::Tensor summed_cross_entropy(const open_product& logits,
                                const at::Tensor& targets,
                                std::int64_t at_once);

} // namespace troupe::models
