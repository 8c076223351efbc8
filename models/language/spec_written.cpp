// A model's description as transformers reads it.

#include <string>
#include <vector>

#include "models/language/spec.hpp"

namespace troupe::models {

namespace {

std::string_view name_of(activation_kind x) noexcept {
  switch (x) {
    case activation_kind::gelu:
      return "gelu";
    case activation_kind::gelu_tanh:
      return "gelu_new";
    case activation_kind::silu:
      return "silu";
    case activation_kind::relu:
      return "relu";
  }
  return "?";
}

/// The class whose weights these are.
std::string class_name_of(const language_spec& x) {
  switch (x.kind) {
    case architecture_kind::gpt2:
      return "GPT2LMHeadModel";
    case architecture_kind::llama:
      return "LlamaForCausalLM";
    case architecture_kind::bert:
      return x.has_head ? "BertForMaskedLM" : "BertModel";
    case architecture_kind::roberta:
      return x.has_head ? "RobertaForMaskedLM" : "RobertaModel";
    case architecture_kind::deberta:
      return x.has_head ? "DebertaV2ForMaskedLM" : "DebertaV2Model";
  }
  return "?";
}

void add_gpt2(const language_spec& x, json& to) {
  to.add("n_positions", x.context);
  to.add("n_ctx", x.context);
  to.add("n_embd", x.width);
  to.add("n_layer", x.layers);
  to.add("n_head", x.heads);
  to.add("n_inner", x.inner);
  to.add("activation_function", name_of(x.activation));
  to.add("layer_norm_epsilon", x.epsilon);
}

void add_sizes(const language_spec& x, json& to) {
  to.add("max_position_embeddings", x.context + x.first_position);
  to.add("hidden_size", x.width);
  to.add("num_hidden_layers", x.layers);
  to.add("num_attention_heads", x.heads);
  to.add("intermediate_size", x.inner);
  to.add("hidden_act", name_of(x.activation));
}

void add_llama(const language_spec& x, json& to) {
  add_sizes(x, to);
  to.add("num_key_value_heads", x.key_heads);
  to.add("head_dim", x.head_width);
  to.add("rms_norm_eps", x.epsilon);
  to.add("attention_bias", x.attention_bias);
  to.add("mlp_bias", false);
  to.add("rope_theta", x.rope.base);
  if (x.rope.width != x.head_width)
    to.add("partial_rotary_factor",
           static_cast<double>(x.rope.width) / x.head_width);
  if (x.rope.scaling == rope_spec::scaling_kind::none)
    return;
  auto scaling = json::object();
  const bool is_linear = x.rope.scaling == rope_spec::scaling_kind::linear;
  const bool is_yarn = x.rope.scaling == rope_spec::scaling_kind::yarn;
  scaling.add("rope_type", is_linear ? "linear" : is_yarn ? "yarn" : "llama3");
  scaling.add("factor", x.rope.factor);
  if (!is_linear) {
    scaling.add(is_yarn ? "beta_slow" : "low_freq_factor", x.rope.low);
    scaling.add(is_yarn ? "beta_fast" : "high_freq_factor", x.rope.high);
    scaling.add("original_max_position_embeddings", x.rope.original_context);
  }
  if (is_yarn) {
    scaling.add("truncate", x.rope.whole_pairs);
    scaling.add("attention_factor", x.rope.length);
  }
  to.add("rope_scaling", std::move(scaling));
}

void add_encoder(const language_spec& x, json& to) {
  add_sizes(x, to);
  to.add("layer_norm_eps", x.epsilon);
  to.add("type_vocab_size", x.types);
  if (x.kind != architecture_kind::deberta)
    return;
  to.add("relative_attention", true);
  to.add("share_att_key", true);
  to.add("position_biased_input", false);
  to.add("pos_att_type", json(std::vector<std::string>{"p2c", "c2p"}));
  to.add("norm_rel_ebd", "layer_norm");
  to.add("position_buckets", x.relative_buckets);
  to.add("max_relative_positions", x.relative_span);
}

} // namespace

json config_of(const language_spec& x) {
  auto out = json::object();
  const bool is_deberta = x.kind == architecture_kind::deberta;
  out.add("architectures", json(std::vector<std::string>{class_name_of(x)}));
  out.add("model_type", is_deberta ? "deberta-v2" : name_of(x.kind));
  out.add("vocab_size", x.vocabulary);
  if (x.kind == architecture_kind::gpt2)
    add_gpt2(x, out);
  else if (x.kind == architecture_kind::llama)
    add_llama(x, out);
  else
    add_encoder(x, out);
  out.add("tie_word_embeddings", x.tied);
  const auto add_token = [&](const char* key,
                             const std::optional<std::uint32_t>& id) {
    out.add(key, id ? json(*id) : json());
  };
  add_token("bos_token_id", x.begin_token);
  add_token("eos_token_id", x.end_token);
  add_token("pad_token_id", x.pad_token);
  return out;
}

} // namespace troupe::models
