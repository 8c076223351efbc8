#pragma once

#include <ATen/ATen.h>

namespace troupe::models {

/// `at::linear`, but backward adds to the gradients of weight and bias where
/// they lie: torch would make a tensor of the weight's size, fill it and add
/// it, three more passes over memory than the product needs. From zero, the
/// bits are the same. Where the gradient is differentiated in turn, it is
/// torch's way after all. @pre in backward, both have a gradient already
at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight,
                        const at::Tensor& bias);

} // namespace troupe::models
