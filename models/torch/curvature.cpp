#include "models/torch/curvature.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstddef>
#include <utility>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

void add_to_flat(const at::Tensor& some, const group_buffers::leaf& to,
                 std::span<float> gradient) {
  if (some.defined())
    at::from_blob(gradient.data() + to.at, to.values.sizes()).add_(some);
}

class curved_once final : public kept_gradient {
public:
  explicit curved_once(curve_function curve) : curve_(std::move(curve)) {
    // nop
  }

  result<void> curve(std::span<const float> direction) override {
    TROUPE_ASSERT(curve_);
    return std::exchange(curve_, nullptr)(direction);
  }

private:
  curve_function curve_;
};

} // namespace

slope_graph::slope_graph(const at::Tensor& loss, leaf_list by)
  : leaves_(std::move(by)) {
  if (!leaves_.empty() && loss.requires_grad())
    slopes_ = torch::autograd::grad({loss}, values(), {}, true, true, true);
}

std::vector<at::Tensor> slope_graph::values() const {
  std::vector<at::Tensor> all;
  for (const auto& x : leaves_)
    all.push_back(x.values);
  return all;
}

void slope_graph::add_slopes(std::span<float> gradient) const {
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < slopes_.size(); ++i)
    add_to_flat(slopes_[i], leaves_[i], gradient);
}

void slope_graph::add_curvature(std::span<const float> direction,
                                std::span<float> gradient) {
  const auto first = std::exchange(slopes_, {});
  // The slope along the direction is a loss of its own.
  auto slope = at::zeros({});
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i].defined())
      continue;
    const auto part =
      at::from_blob(const_cast<float*>(direction.data() + leaves_[i].at),
                    leaves_[i].values.sizes());
    if (part.any().item<bool>()) // Else nothing of it is bent.
      slope = slope + (first[i] * part).sum();
  }
  if (!slope.requires_grad())
    return;
  const auto second =
    torch::autograd::grad({slope}, values(), {}, false, false, true);
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < second.size(); ++i)
    add_to_flat(second[i], leaves_[i], gradient);
}

std::unique_ptr<kept_gradient> kept_by(curve_function curve) {
  return std::make_unique<curved_once>(std::move(curve));
}

} // namespace troupe::models
