#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/inner_adapters.hpp"
#include "models/language/base.hpp"
#include "models/torch/group_buffers.hpp"
#include "models/torch/language/parts.hpp"

namespace troupe::models {

/// What of a language model is learned: parameters and their gradient in flat
/// buffers, and the model's parts as networks read them.
class learned_parts {
public:
  virtual ~learned_parts() = default;

  virtual const tensor_list& list() const noexcept = 0;
  virtual std::span<float> values() noexcept = 0;
  virtual std::span<float> slopes() noexcept = 0;
  virtual model_parts& parts() noexcept = 0;

  /// Whether anything has a gradient now.
  virtual bool learns() const noexcept = 0;

  /// Whether anything has, and the graph of its gradient can be kept while
  /// other parameters are live.
  virtual bool can_be_kept() const noexcept = 0;

  /// The parameters that have one now.
  virtual std::vector<group_buffers::leaf> leaves() const = 0;

  virtual std::vector<float> initial(std::uint64_t seed) const = 0;

  /// Null: nothing can stand inside.
  virtual inner_adapters* inside() noexcept = 0;

  /// How rows go forward for who asks what stands inside about them.
  virtual void forward_by(row_pass x) = 0;
};

/// All weights. They begin as the base's or, where that is made of a seed, as
/// another seed makes them.
std::unique_ptr<learned_parts>
whole_weights_of(std::shared_ptr<const language_base> base);

/// What is attached to a base that nobody changes; nothing at first.
std::unique_ptr<learned_parts>
factors_over(std::shared_ptr<const language_base> base);

} // namespace troupe::models
