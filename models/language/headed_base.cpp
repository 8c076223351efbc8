#include "models/language/headed_base.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/aligned.hpp"
#include "models/labels.hpp"

namespace troupe::models {

namespace {

constexpr double head_deviation = 0.02;

std::string name_of(head_kind x, std::string_view tensor) {
  const std::string prefix{head_prefix};
  return prefix + (x == head_kind::ends ? "ends." : "") + std::string{tensor};
}

/// Matrix and biases, as they lie.
aligned_floats head_values(std::size_t outputs, std::size_t width,
                           std::uint64_t seed) {
  aligned_floats values(outputs * (width + 1));
  random_stream draws{derive_seed(seed, "head")};
  for (std::size_t i = 0; i < outputs * width; ++i)
    values[i] = static_cast<float>(head_deviation * draws.normal());
  return values;
}

class headed_base final : public language_base {
public:
  headed_base(std::shared_ptr<const language_base> base, row_head head,
              std::uint64_t seed)
    : base_(std::move(base)),
      tensors_(base_->tensors()),
      values_(head_values(head.outputs, base_->spec().width, seed)) {
    const std::int64_t outputs = head.outputs;
    const std::int64_t width = base_->spec().width;
    tensors_.push_back({name_of(head.kind, "weight"), {outputs, width}});
    tensors_.push_back({name_of(head.kind, "bias"), {outputs}});
    content_ = digest_of(std::map<std::string, digest>{
      {"base", base_->content()},
      {tensors_.back().name,
       digest_of(std::as_bytes(std::span<const float>{values_}))}});
  }

  const language_spec& spec() const noexcept override {
    return base_->spec();
  }

  const tensor_list& tensors() const noexcept override {
    return tensors_;
  }

  base_tensor at(std::size_t place) const noexcept override {
    const auto before = tensors_.size() - 2;
    if (place < before)
      return base_->at(place);
    const auto matrix = tensors_[before].size();
    const std::span<const float> all{values_};
    return {
      stored_type::f32,
      std::as_bytes(place == before ? all.first(matrix) : all.subspan(matrix))};
  }

  const digest& content() const noexcept override {
    return content_;
  }

  bool is_made() const noexcept override {
    return base_->is_made();
  }

  std::uint64_t bytes() const noexcept override {
    return base_->bytes() + values_.size() * sizeof(float);
  }

private:
  std::shared_ptr<const language_base> base_;
  tensor_list tensors_;
  aligned_floats values_;
  digest content_{};
};

} // namespace

std::shared_ptr<const language_base>
with_head(std::shared_ptr<const language_base> base, row_head head,
          std::uint64_t seed) {
  TROUPE_ASSERT(head.outputs > 0 && !head_of(*base));
  return std::make_shared<headed_base>(std::move(base), head, seed);
}

std::optional<row_head> head_of(const language_base& x) {
  const auto& last = x.tensors().back();
  for (const auto kind : {head_kind::classes, head_kind::ends})
    if (last.name == name_of(kind, "bias"))
      return row_head{kind, static_cast<std::uint32_t>(last.size())};
  return std::nullopt;
}

std::vector<float> first_values(const language_base& x, std::uint64_t seed) {
  auto all = x.values();
  if (x.is_made())
    std::ranges::copy(initial_weights(x.spec(), seed), all.begin());
  if (const auto head = head_of(x)) {
    const auto values = head_values(head->outputs, x.spec().width, seed);
    std::ranges::copy(values,
                      all.end() - static_cast<std::ptrdiff_t>(values.size()));
  }
  return all;
}

} // namespace troupe::models
