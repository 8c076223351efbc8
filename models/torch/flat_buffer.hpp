#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "models/objective.hpp"
#include "models/torch/group_buffers.hpp"

namespace troupe::models {

/// A flat buffer and the tensors that look into it. Zeros at first, 64-byte
/// aligned. What is large takes no memory until it is written to: who only
/// scores has no gradient, and a server that does not even score has no
/// parameters.
struct flat_buffer {
  at::Tensor storage;
  std::vector<at::Tensor> views;

  explicit flat_buffer(const tensor_list& parts);

  std::span<float> values() const noexcept;

  /// All of them.
  std::vector<group_buffers::leaf> leaves() const;
};

} // namespace troupe::models
