#pragma once

// What a language model is, beside its weights: read from the config.json of a
// folder or from the metadata of a GGUF file. An architecture is a few choices
// around one block of attention and one of two products; nothing that a file
// says otherwise is taken for a constant.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.hpp"
#include "core/result.hpp"
#include "models/language/gguf.hpp"
#include "models/language/weight_files.hpp"

namespace troupe::models {

enum class architecture_kind : std::uint8_t {
  gpt2,
  llama,
  bert,
  roberta,
  deberta
};
enum class activation_kind : std::uint8_t { gelu, gelu_tanh, silu, relu };

/// Rotary embeddings.
struct rope_spec {
  enum class scaling_kind : std::uint8_t { none, linear, llama3, yarn };

  double base = 10000;
  std::uint32_t width = 0; ///< Of each head's first values that are turned;
                           ///< even.
  scaling_kind scaling = scaling_kind::none;
  /// Waves that turn fewer than `low` times in the context of before are
  /// `factor` times as long, those that turn more than `high` times stay.
  double factor = 1, low = 1, high = 4;
  std::uint32_t original_context = 0;
  bool whole_pairs = true; ///< Of `yarn`: its ramp begins and ends at a pair.
  double length = 1; ///< Of what is turned; of `yarn` it is not what it was.

  friend bool operator==(const rope_spec&, const rope_spec&) = default;
};

/// What a language model is, beside its weights.
struct language_spec {
  architecture_kind kind = architecture_kind::gpt2;
  std::uint32_t vocabulary = 0, context = 0, width = 0, layers = 0, heads = 0;
  /// Grouped heads; as many as `heads` where they are not.
  std::uint32_t key_heads = 0;
  std::uint32_t head_width = 0;
  std::uint32_t inner = 0; ///< Of the feed-forward block.
  double epsilon = 1e-5;
  activation_kind activation = activation_kind::gelu_tanh;
  bool tied = true; ///< The head is the table of the embeddings.
  bool head_bias = false, attention_bias = false, inner_bias = false;
  bool has_head = true;    ///< Else there are hidden states alone (MiniLM).
  rope_spec rope = {};     ///< Of `llama`.
  std::uint32_t types = 0; ///< Rows of the table of segment types (BERT); 0:
                           ///< none.
  /// 2 for RoBERTa: places count on from the padding's.
  std::uint32_t first_position = 0;
  std::uint32_t relative_buckets = 0, relative_span = 0; ///< DeBERTa.
  std::optional<std::uint32_t> begin_token = {}, end_token = {}, pad_token = {};

  friend bool operator==(const language_spec&, const language_spec&) = default;

  bool is_causal() const noexcept {
    return kind == architecture_kind::gpt2 || kind == architecture_kind::llama;
  }
};

/// Returns `invalid_data`, naming the key, where something is missing, is of an
/// architecture that is not known, or does not go together.
[[nodiscard]] result<language_spec> read_spec(const weight_files& from);

/// config.json of transformers. Whether there is a head is what its
/// `architectures` say; `read_spec` looks at the tensors.
[[nodiscard]] result<language_spec> parse_spec(const json& config,
                                               std::string_view origin);
[[nodiscard]] result<language_spec> parse_spec(const gguf_header& header,
                                               std::string_view origin);

[[nodiscard]] result<void> check_spec(const language_spec& x,
                                      std::string_view origin);

json config_of(const language_spec& x); ///< As transformers reads it.

/// "gpt2", "llama", "bert", "roberta", "deberta".
std::string_view name_of(architecture_kind x) noexcept;

/// "llama, 30 layers of 576, 9 heads over 3, 49152 tokens"
std::string describe(const language_spec& x);

} // namespace troupe::models
