#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "models/torch/group_buffers.hpp"

namespace troupe::models {

/// Adds to a flat gradient what that of a loss, by the leaves, changes by along
/// a direction. @pre both have a place for each value of a leaf
void add_curvature(const at::Tensor& loss,
                   const std::vector<group_buffers::leaf>& leaves,
                   std::span<const float> direction, std::span<float> gradient);

} // namespace troupe::models
