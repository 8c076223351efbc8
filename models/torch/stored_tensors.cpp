#include "models/torch/stored_tensors.hpp"

#include "core/limits.hpp"

namespace troupe::models {

namespace {

/// The bytes from the beginning of its storage to its last value; nothing where
/// they cannot be counted.
std::optional<std::uint64_t> reach_of(const at::Tensor& x) {
  auto reach = static_cast<std::uint64_t>(x.storage_offset()) + 1;
  if (x.storage_offset() < 0)
    return std::nullopt;
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    std::uint64_t more = 0;
    if (x.size(i) < 0 || x.stride(i) < 0
        || __builtin_mul_overflow(static_cast<std::uint64_t>(x.size(i)) - 1,
                                  static_cast<std::uint64_t>(x.stride(i)),
                                  &more)
        || __builtin_add_overflow(reach, more, &reach))
      return std::nullopt;
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(reach, x.element_size(), &bytes))
    return std::nullopt;
  return bytes;
}

std::optional<std::string> problem_of(const at::Tensor& x) {
  if (!x.defined() || x.numel() == 0)
    return std::nullopt;
  if (x.layout() != at::kStrided || !x.has_storage())
    return "has a tensor that is not dense";
  const auto stored = x.storage().nbytes();
  const auto reach = reach_of(x);
  // One that repeats what is stored takes its whole size once it is copied.
  const auto copied = static_cast<std::uint64_t>(x.nbytes());
  if (reach && *reach <= stored && x.storage().data() != nullptr
      && (copied <= stored || copied <= limits::payload_bytes_max))
    return std::nullopt;
  return "has a tensor of " + std::to_string(x.numel()) + " values, and "
         + std::to_string(stored) + " bytes are stored of it";
}

std::optional<std::string> problem_in(const torch::jit::Block& x) {
  for (const auto* node : x.nodes()) {
    if (node->kind() == c10::prim::Constant
        && node->hasAttribute(c10::attr::value)
        && node->kindOf(c10::attr::value) == torch::jit::AttributeKind::t)
      if (auto found = problem_of(node->t(c10::attr::value)))
        return found;
    for (const auto* inner : node->blocks())
      if (auto found = problem_in(*inner))
        return found;
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string>
tensor_beyond_its_storage(const torch::jit::Module& x) {
  c10::IValue::HashAliasedIValues all;
  c10::IValue{x._ivalue()}.getSubValues(all);
  for (const auto& value : all)
    if (value.isTensor())
      if (auto found = problem_of(value.toTensor()))
        return found;
  for (const auto& module : x.modules())
    for (const auto& method : module.get_methods())
      if (auto found = problem_in(*method.graph()->block()))
        return found;
  return std::nullopt;
}

} // namespace troupe::models
