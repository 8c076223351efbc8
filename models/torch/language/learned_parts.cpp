#include "models/torch/language/learned_parts.hpp"

#include <ATen/ATen.h>

#include <utility>

#include "models/aligned.hpp"
#include "models/language/headed_base.hpp"

namespace troupe::models {

namespace {

class whole_weights final : public learned_parts {
public:
  explicit whole_weights(std::shared_ptr<const language_base> base)
    : base_(std::move(base)),
      values_(size_of(base_->tensors())),
      slopes_(values_.size()) {
    std::size_t first = 0;
    std::vector<at::Tensor> views;
    for (const auto& x : base_->tensors()) {
      auto view = at::from_blob(values_.data() + first, x.shape);
      view.requires_grad_();
      view.mutable_grad() = at::from_blob(slopes_.data() + first, x.shape);
      leaves_.push_back({.values = view, .at = first});
      views.push_back(std::move(view));
      first += x.size();
    }
    parts_ = parts_of(std::move(views));
  }

  const tensor_list& list() const noexcept override {
    return base_->tensors();
  }

  std::span<float> values() noexcept override {
    return values_;
  }

  std::span<float> slopes() noexcept override {
    return slopes_;
  }

  model_parts& parts() noexcept override {
    return *parts_;
  }

  bool learns() const noexcept override {
    return true;
  }

  // It would take another model.
  bool can_be_kept() const noexcept override {
    return false;
  }

  std::vector<group_buffers::leaf> leaves() const override {
    return leaves_;
  }

  std::vector<float> initial(std::uint64_t seed) const override {
    return first_values(*base_, seed);
  }

  inner_adapters* inside() noexcept override {
    return nullptr;
  }

  void forward_by(row_pass /*x*/) override {
    // nop
  }

private:
  std::shared_ptr<const language_base> base_;
  aligned_floats values_;
  aligned_floats slopes_;
  std::vector<group_buffers::leaf> leaves_;
  std::unique_ptr<model_parts> parts_;
};

class factors_beside final : public learned_parts {
public:
  explicit factors_beside(std::shared_ptr<const language_base> base)
    : groups_(std::move(base)) {
    // nop
  }

  const tensor_list& list() const noexcept override {
    return groups_.list();
  }

  std::span<float> values() noexcept override {
    return groups_.values();
  }

  std::span<float> slopes() noexcept override {
    return groups_.slopes();
  }

  model_parts& parts() noexcept override {
    return groups_.parts();
  }

  bool learns() const noexcept override {
    return groups_.learns();
  }

  bool can_be_kept() const noexcept override {
    return groups_.can_be_kept();
  }

  std::vector<group_buffers::leaf> leaves() const override {
    return groups_.leaves();
  }

  std::vector<float> initial(std::uint64_t seed) const override {
    return groups_.initial(seed);
  }

  inner_adapters* inside() noexcept override {
    return &groups_;
  }

  void forward_by(row_pass x) override {
    groups_.forward_by(std::move(x));
  }

private:
  group_buffers groups_;
};

} // namespace

std::unique_ptr<learned_parts>
whole_weights_of(std::shared_ptr<const language_base> base) {
  return std::make_unique<whole_weights>(std::move(base));
}

std::unique_ptr<learned_parts>
factors_over(std::shared_ptr<const language_base> base) {
  return std::make_unique<factors_beside>(std::move(base));
}

} // namespace troupe::models
