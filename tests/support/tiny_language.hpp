#pragma once

// Language models of some hundred weights, as config.json says them. Their
// weights are a rule's, which tests/interop/language/logits.py has too: so no
// file of them is kept.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "models/language/names.hpp"
#include "models/language/spec.hpp"
#include "models/torch/language/network.hpp"

namespace troupe::test {

inline constexpr std::string_view tiny_gpt2 = R"({
  "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
  "vocab_size": 13, "n_positions": 12, "n_ctx": 12, "n_embd": 8, "n_layer": 2,
  "n_head": 2, "n_inner": null, "activation_function": "gelu_new",
  "layer_norm_epsilon": 1e-5, "tie_word_embeddings": true})";

inline constexpr std::string_view tiny_llama = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "vocab_size": 13, "max_position_embeddings": 12, "hidden_size": 16,
  "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 2, "hidden_act": "silu", "rms_norm_eps": 1e-5,
  "rope_theta": 100.0, "rope_scaling": null, "attention_bias": false,
  "mlp_bias": false, "tie_word_embeddings": true})";

inline constexpr std::string_view tiny_bert = R"({
  "architectures": ["BertForMaskedLM"], "model_type": "bert",
  "vocab_size": 13, "max_position_embeddings": 12, "hidden_size": 8,
  "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2,
  "hidden_act": "gelu", "layer_norm_eps": 1e-12, "type_vocab_size": 2,
  "position_embedding_type": "absolute", "pad_token_id": 0,
  "tie_word_embeddings": true})";

inline constexpr std::string_view tiny_roberta = R"({
  "architectures": ["RobertaForMaskedLM"], "model_type": "roberta",
  "vocab_size": 13, "max_position_embeddings": 14, "hidden_size": 8,
  "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2,
  "hidden_act": "gelu", "layer_norm_eps": 1e-5, "type_vocab_size": 1,
  "position_embedding_type": "absolute", "pad_token_id": 1,
  "tie_word_embeddings": true})";

inline constexpr std::string_view tiny_deberta = R"({
  "architectures": ["DebertaV2ForMaskedLM"], "model_type": "deberta-v2",
  "vocab_size": 13, "max_position_embeddings": 12, "hidden_size": 8,
  "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2,
  "hidden_act": "gelu", "layer_norm_eps": 1e-7, "type_vocab_size": 0,
  "relative_attention": true, "position_buckets": 4,
  "max_relative_positions": -1, "norm_rel_ebd": "layer_norm",
  "share_att_key": true, "pos_att_type": "p2c|c2p",
  "position_biased_input": false, "pad_token_id": 0,
  "tie_word_embeddings": true})";

/// One of each.
inline constexpr std::string_view tiny_models[] = {
  tiny_gpt2, tiny_llama, tiny_bert, tiny_roberta, tiny_deberta};

inline models::language_spec tiny_spec(std::string_view config) {
  const auto read = json::parse(config);
  EXPECT_TRUE(read) << read.error().context;
  const auto parsed = models::parse_spec(*read, "here");
  EXPECT_TRUE(parsed) << parsed.error().context;
  return *parsed;
}

/// One of 1,024 values from -1/2, which floats have as they are.
inline double value_by_rule(std::uint32_t phase, std::uint32_t i) {
  auto x = i * 2654435761u + phase * 40503u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return (static_cast<double>((x >> 4) & 1023u) - 512) / 1024;
}

/// A tensor's name without what names the model around it.
inline std::string plain_name(std::string name) {
  for (const std::string_view around :
       {"transformer.", "model.", "bert.", "roberta.", "deberta."})
    if (name.starts_with(around)) {
      name.erase(0, around.size());
      break;
    }
  if (const auto at = name.find(".decoder.bias"); at != std::string::npos)
    name.erase(at, std::string_view{".decoder"}.size());
  return name;
}

inline std::uint32_t phase_of(std::string_view plain) {
  std::uint32_t sum = 0;
  for (const auto x : plain)
    sum += static_cast<unsigned char>(x);
  return sum;
}

/// Scales of norms are about one, all else about zero.
inline std::vector<at::Tensor> tensors_by_rule(const models::language_spec& x,
                                               at::ScalarType type) {
  std::vector<at::Tensor> result;
  for (const auto& tensor : models::tensors_of(x)) {
    const auto name = plain_name(tensor.name);
    auto lower = name;
    for (auto& letter : lower)
      letter = static_cast<char>(std::tolower(letter));
    const bool is_norm = lower.ends_with(".weight")
                         && (lower.find("norm") != std::string::npos
                             || lower.find("ln_") != std::string::npos);
    auto values = at::empty(tensor.shape, at::kDouble);
    auto* to = values.data_ptr<double>();
    for (std::size_t i = 0; i < tensor.size(); ++i)
      to[i] = value_by_rule(phase_of(name), static_cast<std::uint32_t>(i))
              + (is_norm ? 1 : 0);
    result.push_back(values.to(type));
  }
  return result;
}

/// [rows x tokens]; no two rows are equal.
inline at::Tensor ids_by_rule(std::int64_t rows, std::int64_t tokens,
                              std::int64_t vocabulary) {
  auto result = at::empty({rows, tokens}, at::kLong);
  auto* to = result.data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < tokens; ++i)
      *to++ = (3 * i * i + 5 * row + 1) % vocabulary;
  return result;
}

/// [rows x tokens x vocabulary], or x width where there is no head.
inline at::Tensor said_of(const models::language_network& by,
                          models::model_parts& of,
                          const models::token_batch& x) {
  const auto hidden = by.hidden(of, x);
  if (!by.spec().has_head)
    return hidden;
  return by.logits(of, hidden.reshape({-1, hidden.size(2)}))
    .reshape({hidden.size(0), hidden.size(1), -1});
}

/// The largest difference.
inline double apart(const at::Tensor& x, const at::Tensor& y) {
  return (x - y).abs().max().item<double>();
}

} // namespace troupe::test
