#pragma once

// What people's files say of a model, and what is read of it.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/json.hpp"
#include "models/language/spec.hpp"

namespace troupe::test {

/// As Llama-3.2-1B's config.json.
inline constexpr const char* llama = R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false,
  "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009],
  "head_dim": 64, "hidden_act": "silu", "hidden_size": 2048,
  "intermediate_size": 8192, "max_position_embeddings": 131072,
  "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32,
  "num_hidden_layers": 16, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
  "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0,
    "low_freq_factor": 1.0, "original_max_position_embeddings": 8192,
    "rope_type": "llama3"},
  "rope_theta": 500000.0, "tie_word_embeddings": true, "vocab_size": 128256})";

inline result<models::language_spec> parsed(std::string_view text) {
  return models::parse_spec(json::parse(text).value(), "m/config.json");
}

/// A text with `from` replaced.
inline std::string with(std::string text, std::string_view from,
                        std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

inline std::string refusal(const result<models::language_spec>& x) {
  if (x)
    return "read";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

/// A header that holds what SmolLM2's file says.
inline models::gguf_header smollm2() {
  models::gguf_header x;
  x.values["general.architecture"] = std::string{"llama"};
  x.values["llama.block_count"] = std::uint64_t{30};
  x.values["llama.context_length"] = std::uint64_t{8192};
  x.values["llama.embedding_length"] = std::uint64_t{576};
  x.values["llama.feed_forward_length"] = std::uint64_t{1536};
  x.values["llama.attention.head_count"] = std::uint64_t{9};
  x.values["llama.attention.head_count_kv"] = std::uint64_t{3};
  x.values["llama.rope.freq_base"] = double{100000.f};
  x.values["llama.rope.dimension_count"] = std::uint64_t{64};
  x.values["llama.attention.layer_norm_rms_epsilon"] = double{1e-5f};
  x.values["tokenizer.ggml.eos_token_id"] = std::uint64_t{2};
  x.tensors.push_back({.name = "token_embd.weight", .shape = {49152, 576}});
  return x;
}

} // namespace troupe::test
