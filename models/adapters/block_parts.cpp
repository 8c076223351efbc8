#include "models/adapters/block_parts.hpp"

#include <algorithm>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

} // namespace

bool is_of_attention(std::string_view tensor) {
  return has_part(tensor, ".attn.") || has_part(tensor, ".self_attn.")
         || has_part(tensor, ".attention.");
}

bool is_of_feed_forward(std::string_view tensor) {
  return has_part(tensor, ".mlp.") || has_part(tensor, ".intermediate.")
         || (has_part(tensor, ".output.dense.") && !is_of_attention(tensor));
}

void put_attention(const adapter_plan& plan, std::span<const float> from,
                   std::span<float> to) {
  TROUPE_ASSERT(from.size() == plan.size() && to.size() == plan.size());
  const auto is_attention = [](const tensor_spec& x) {
    return is_of_attention(x.name);
  };
  if (std::ranges::all_of(plan.tensors, is_attention))
    return;
  for (const auto& x : plan.tensors) {
    if (is_attention(x))
      std::ranges::copy(from.first(x.size()), to.begin());
    from = from.subspan(x.size());
    to = to.subspan(x.size());
  }
}

} // namespace troupe::models
