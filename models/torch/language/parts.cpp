#include "models/torch/language/parts.hpp"

#include <ATen/ATen.h>

#include <utility>

#include "core/assert.hpp"
#include "models/language/names.hpp"

namespace troupe::models {

namespace {

class plain_parts final : public model_parts {
public:
  explicit plain_parts(std::vector<at::Tensor> tensors)
    : tensors_(std::move(tensors)) {
    // nop
  }

  at::Tensor whole(std::size_t place) override {
    return tensor(place);
  }

  at::Tensor rows(std::size_t place, const at::Tensor& ids) override {
    return at::embedding(tensor(place), ids);
  }

  at::Tensor product(std::size_t weight, std::size_t bias,
                     const at::Tensor& x) override {
    if (bias == no_place)
      return at::linear(x, tensor(weight));
    return at::linear(x, tensor(weight), tensor(bias));
  }

  open_product open(std::size_t weight, std::size_t bias,
                    const at::Tensor& x) override {
    return {.rows = x,
            .weight = tensor(weight),
            .bias = bias == no_place ? at::Tensor{} : tensor(bias)};
  }

private:
  const at::Tensor& tensor(std::size_t place) const {
    TROUPE_ASSERT(place < tensors_.size());
    return tensors_[place];
  }

  std::vector<at::Tensor> tensors_;
};

} // namespace

std::unique_ptr<model_parts> parts_of(std::vector<at::Tensor> tensors) {
  return std::make_unique<plain_parts>(std::move(tensors));
}

} // namespace troupe::models
