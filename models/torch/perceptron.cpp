#include "models/torch/perceptron.hpp"

#include <ATen/ATen.h>

#include <utility>

#include "models/torch/group_buffers.hpp"

namespace troupe::models {

namespace {

class inner_perceptron final : public network {
public:
  explicit inner_perceptron(std::shared_ptr<const frozen_weights> base)
    : groups_(base, nullptr),
      tensors_(base->tensors().size()),
      width_(static_cast<std::int64_t>(base->columns(tensors_ - 2))) {
    // nop
  }

  const tensor_list& parameter_list() const noexcept override {
    return groups_.list();
  }

  const tensor_list& buffer_list() const noexcept override {
    return no_buffers_;
  }

  void bind(std::vector<at::Tensor>, std::vector<at::Tensor>) override {
    // nop: groups have their own.
  }

  std::vector<float> initial_parameters(std::uint64_t seed) const override {
    return groups_.initial(seed);
  }

  std::vector<float> initial_buffers() const override {
    return {};
  }

  at::Tensor forward(const std::vector<at::Tensor>& inputs,
                     phase when) override {
    return product(tensors_ - 2, embed(inputs, when));
  }

  at::Tensor embed(const std::vector<at::Tensor>& inputs, phase) override {
    return perceptron_features(
      tensors_, inputs[0],
      [this](std::size_t i, const at::Tensor& x) { return product(i, x); });
  }

  std::int64_t embedding_width() const noexcept override {
    return width_;
  }

  group_buffers* groups() noexcept override {
    return &groups_;
  }

private:
  at::Tensor product(std::size_t weight, const at::Tensor& x) {
    return groups_.parts().product(weight, weight + 1, x);
  }

  group_buffers groups_;
  std::size_t tensors_;
  std::int64_t width_;
  tensor_list no_buffers_;
};

} // namespace

std::unique_ptr<network>
make_inner_perceptron(std::shared_ptr<const frozen_weights> base) {
  return std::make_unique<inner_perceptron>(std::move(base));
}

} // namespace troupe::models
