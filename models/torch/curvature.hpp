#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/objective.hpp"
#include "models/torch/group_buffers.hpp"

namespace troupe::models {

/// The gradient of a loss by leaves, with the graph that it was computed by:
///
///   leaves ─► loss ─► slopes ─► their sum along a direction ─► curvature
///
/// Flat buffers have a place for each value of a leaf.
class slope_graph {
public:
  using leaf_list = std::vector<group_buffers::leaf>;

  /// Without slopes where the loss has none by any of them.
  slope_graph(const at::Tensor& loss, leaf_list by);

  void add_slopes(std::span<float> gradient) const;

  /// Adds what the gradient changes by along a direction, once: the graph goes
  /// with it. @pre the leaves still require gradients
  void add_curvature(std::span<const float> direction,
                     std::span<float> gradient);

private:
  std::vector<at::Tensor> values() const;

  leaf_list leaves_;
  std::vector<at::Tensor> slopes_; ///< As many, or none.
};

/// Adds a curvature along a direction to an objective's gradient.
using curve_function = std::function<result<void>(std::span<const float>)>;

/// What the function has is gone when it was called.
std::unique_ptr<kept_gradient> kept_by(curve_function curve);

} // namespace troupe::models
