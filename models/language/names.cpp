#include "models/language/names.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/assert.hpp"
#include "models/language/tensor_table.hpp"

namespace troupe::models {

namespace {

using renaming = std::pair<std::string_view, std::string_view>;

/// What files leave out at the beginning: those of a model without its head.
constexpr std::array<std::string_view, 5> prefixes{
  "transformer.", "model.", "bert.", "roberta.", "deberta."};

/// What parts of names are in other releases.
constexpr std::array<renaming, 6> older{
  renaming{"LayerNorm.weight", "LayerNorm.gamma"},
  renaming{"LayerNorm.bias", "LayerNorm.beta"},
  renaming{"cls.predictions.bias", "cls.predictions.decoder.bias"},
  renaming{"lm_head.bias", "lm_head.decoder.bias"},
  renaming{"cls.predictions.transform.", "lm_predictions.lm_head."},
  renaming{"cls.predictions.bias", "lm_predictions.lm_head.bias"}};

/// What a file may call it, the likeliest first.
std::vector<std::string> names_of(const tensor_source& x, weights_format from) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& name) {
    all.push_back(name);
    const auto own = without_model(name);
    if (own.size() < name.size())
      all.emplace_back(own);
  };
  if (!x.name.empty())
    add(x.name);
  if (from == weights_format::gguf)
    return all;
  for (const auto& [now, before] : older) {
    const auto at = x.name.find(now);
    if (at == x.name.npos)
      continue;
    auto other = x.name;
    other.replace(at, now.size(), before);
    add(other);
  }
  return all;
}

bool has(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != text.npos;
}

} // namespace

std::string_view without_model(std::string_view name) noexcept {
  for (const auto prefix : prefixes)
    if (name.starts_with(prefix))
      return name.substr(prefix.size());
  return name;
}

tensor_list tensors_of(const language_spec& x) {
  tensor_list out;
  for (auto& tensor : table_of(x).tensors)
    out.push_back(std::move(tensor.what));
  return out;
}

tensor_source source_of(const language_spec& x, weights_format from,
                        const std::string& name) {
  const auto table = table_of(x);
  const auto found =
    std::ranges::find_if(table.tensors, [&](const named_tensor& tensor) {
      return tensor.what.name == name;
    });
  TROUPE_ASSERT(found != table.tensors.end());
  return found->source(from);
}

const stored_tensor* find_source(const weight_files& in,
                                 const tensor_source& x) {
  for (const auto& name : names_of(x, in.format()))
    if (const auto* found = in.find(name))
      return found;
  return nullptr;
}

bool is_left_out(const weight_files& in, const tensor_source& x) {
  return std::ranges::any_of(
    names_of(x, in.format()), [&](const std::string& name) {
      return std::ranges::binary_search(in.left_out(), name);
    });
}

bool is_of_attention(const language_spec& x, std::string_view tensor) noexcept {
  switch (x.kind) {
    case architecture_kind::gpt2:
      return has(tensor, ".attn.");
    case architecture_kind::llama:
      return has(tensor, ".self_attn.");
    case architecture_kind::bert:
    case architecture_kind::roberta:
    case architecture_kind::deberta:
      return has(tensor, ".attention.") && !has(tensor, "LayerNorm");
  }
  return false;
}

bool is_of_feed_forward(const language_spec& x,
                        std::string_view tensor) noexcept {
  switch (x.kind) {
    case architecture_kind::gpt2:
    case architecture_kind::llama:
      return has(tensor, ".mlp.");
    case architecture_kind::bert:
    case architecture_kind::roberta:
    case architecture_kind::deberta:
      return has(tensor, ".intermediate.")
             || (has(tensor, ".output.dense.") && !has(tensor, ".attention."));
  }
  return false;
}

} // namespace troupe::models
