#include "models/torch/curvature.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstddef>

namespace troupe::models {

void add_curvature(const at::Tensor& loss,
                   const std::vector<group_buffers::leaf>& leaves,
                   std::span<const float> direction,
                   std::span<float> gradient) {
  if (leaves.empty() || !loss.requires_grad())
    return;
  std::vector<at::Tensor> learned;
  for (const auto& x : leaves)
    learned.push_back(x.values);
  const auto first =
    torch::autograd::grad({loss}, learned, {}, true, true, true);
  // The slope along the direction is a loss of its own.
  auto slope = at::zeros({});
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i].defined())
      continue;
    const auto part = at::from_blob(
      const_cast<float*>(direction.data() + leaves[i].at), learned[i].sizes());
    slope = slope + (first[i] * part).sum();
  }
  if (!slope.requires_grad())
    return;
  const auto second =
    torch::autograd::grad({slope}, learned, {}, false, false, true);
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < second.size(); ++i)
    if (second[i].defined())
      at::from_blob(gradient.data() + leaves[i].at, learned[i].sizes())
        .add_(second[i]);
}

} // namespace troupe::models
