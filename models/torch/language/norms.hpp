#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

#include "models/torch/language/parts.hpp"

namespace troupe::models {

/// Over the last extent: mean zero and variance one, then scale and shift. The
/// bias may be undefined.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias, double epsilon);

/// Likewise, of mean square one: nothing is shifted. By a weight that somebody
/// trains it may differ from that by a frozen one, within rounding.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight,
                    double epsilon);

/// The first of these, with tensors of a model; bias may be no_place.
at::Tensor layer_norm_of(model_parts& of, std::size_t weight, std::size_t bias,
                         const at::Tensor& x, double epsilon);

} // namespace troupe::models
