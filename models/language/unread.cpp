#include "models/language/unread.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "models/language/names.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t shown_max = 3;

/// Buffers that programs keep within layers: they follow from the model's
/// description. Of what stands beside layers (position_ids, poolers, a tied
/// head, heads of other tasks) nothing is asked.
constexpr std::array<std::string_view, 4> harmless{
  ".attn.bias",        // GPT-2: which tokens a token sees.
  ".attn.masked_bias", // GPT-2: what the others count.
  ".rotary_emb.",      // Llama: angles, and what is made of them.
  ".attn_rot_embd.",   // The same in GGUF.
};

/// How names of layers go on behind the model's.
std::string_view layers_in(weights_format from, architecture_kind x) noexcept {
  if (from == weights_format::gguf)
    return "blk.";
  switch (x) {
    case architecture_kind::gpt2:
      return "h.";
    case architecture_kind::llama:
      return "layers.";
    case architecture_kind::bert:
    case architecture_kind::roberta:
    case architecture_kind::deberta:
      break;
  }
  return "encoder.layer.";
}

bool is_of_layer(std::string_view name, std::string_view layers) noexcept {
  name = without_model(name);
  return name.starts_with(layers) && name.size() > layers.size()
         && name[layers.size()] >= '0' && name[layers.size()] <= '9';
}

bool is_harmless(std::string_view name) noexcept {
  return std::ranges::any_of(harmless, [&](std::string_view part) {
    return part.ends_with('.') ? name.find(part) != name.npos
                               : name.ends_with(part);
  });
}

} // namespace

result<void> check_unread(const weight_files& in, const language_spec& x,
                          const std::set<std::string>& read) {
  const auto layers = layers_in(in.format(), x.kind);
  std::vector<std::string> unread;
  for (const auto& tensor : in.tensors())
    if (is_of_layer(tensor.name, layers) && !read.contains(tensor.name)
        && !is_harmless(tensor.name))
      unread.push_back(tensor.name);
  if (unread.empty())
    return {};
  std::string names;
  for (std::size_t i = 0; i < std::min(unread.size(), shown_max); ++i)
    names += (i == 0 ? "" : ", ") + in_quotes(shortened(unread[i]));
  if (unread.size() > shown_max)
    names += " and " + std::to_string(unread.size() - shown_max) + " more";
  return fail(errc::invalid_data,
              in.origin() + ": " + names + " would be left out, and "
                + describe(x)
                + " has no such tensors in its layers: without them it would "
                  "say something else; the config.json of these files, or a "
                  "model of an architecture that is read would do");
}

} // namespace troupe::models
