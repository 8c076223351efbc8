#include "models/language/frozen_weights.hpp"

#include <utility>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

class shared_weights final : public frozen_weights {
public:
  shared_weights(tensor_list tensors, shared_values values)
    : tensors_(std::move(tensors)),
      values_(std::move(values)),
      at_(lying_in({values_->data(), values_->size()}, tensors_)),
      content_(
        digest_of(std::as_bytes(std::span{values_->data(), values_->size()}))) {
    // nop
  }

  const tensor_list& tensors() const noexcept override {
    return tensors_;
  }

  base_tensor at(std::size_t place) const noexcept override {
    return at_[place];
  }

  const digest& content() const noexcept override {
    return content_;
  }

private:
  tensor_list tensors_;
  shared_values values_;
  std::vector<base_tensor> at_;
  digest content_;
};

} // namespace

std::size_t frozen_weights::rows(std::size_t place) const noexcept {
  const auto& shape = tensors()[place].shape;
  return shape.size() == 1 ? 1 : static_cast<std::size_t>(shape.front());
}

std::size_t frozen_weights::columns(std::size_t place) const noexcept {
  return static_cast<std::size_t>(tensors()[place].shape.back());
}

void frozen_weights::read_rows(std::size_t place, std::size_t first,
                               std::span<float> to) const {
  const auto x = at(place);
  const auto wide = columns(place);
  dequantise(x.type,
             x.bytes.subspan(bytes_of(x.type, first * wide),
                             bytes_of(x.type, to.size())),
             to);
}

std::vector<float> frozen_weights::values() const {
  std::vector<float> all(size_of(tensors()));
  std::span<float> left{all};
  for (std::size_t i = 0; i < tensors().size(); ++i) {
    const auto size = tensors()[i].size();
    read_rows(i, 0, left.first(size));
    left = left.subspan(size);
  }
  return all;
}

std::vector<base_tensor> lying_in(std::span<const float> values,
                                  const tensor_list& tensors) {
  TROUPE_ASSERT(values.size() == size_of(tensors));
  std::vector<base_tensor> all;
  for (const auto& x : tensors) {
    all.push_back({stored_type::f32, std::as_bytes(values.first(x.size()))});
    values = values.subspan(x.size());
  }
  return all;
}

std::shared_ptr<const frozen_weights> still_weights(tensor_list tensors,
                                                    shared_values values) {
  return std::make_shared<shared_weights>(std::move(tensors),
                                          std::move(values));
}

} // namespace troupe::models
