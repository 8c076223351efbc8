#include <string>
#include <utility>

#include "models/language/tensor_table.hpp"

namespace troupe::models {

namespace {

constexpr layer_places no_layer{.query = no_place,
                                .key = no_place,
                                .value = no_place,
                                .output = no_place,
                                .up = no_place,
                                .gate = no_place,
                                .down = no_place,
                                .norm1 = no_place,
                                .norm2 = no_place,
                                .query_bias = no_place,
                                .key_bias = no_place,
                                .value_bias = no_place,
                                .output_bias = no_place,
                                .up_bias = no_place,
                                .down_bias = no_place,
                                .norm1_bias = no_place,
                                .norm2_bias = no_place};

model_places no_places() {
  return {.tokens = no_place,
          .positions = no_place,
          .types = no_place,
          .first_norm = no_place,
          .first_norm_bias = no_place,
          .last_norm = no_place,
          .last_norm_bias = no_place,
          .relative = no_place,
          .relative_norm = no_place,
          .relative_norm_bias = no_place,
          .head = no_place,
          .head_bias = no_place,
          .transform = no_place,
          .transform_bias = no_place,
          .transform_norm = no_place,
          .transform_norm_bias = no_place,
          .layers = {}};
}

/// A layer's or a model's name of a part, in transformers and in GGUF.
struct two_names {
  std::string ours;
  std::string in_gguf;

  two_names operator+(const two_names& x) const {
    return {ours + x.ours, in_gguf.empty() || x.in_gguf.empty()
                             ? std::string{}
                             : in_gguf + x.in_gguf};
  }
};

struct linear_facts {
  std::uint32_t outputs = 0, inputs = 0;
  bool bias = false;
  bool transposed = false;
  std::uint32_t interleaved = 0;
};

class table_maker {
public:
  explicit table_maker(const language_spec& x)
    : x_(x),
      made_{.tensors = {}, .places = no_places()} {
    // nop
  }

  tensor_table make() {
    auto& to = made_.places;
    switch (x_.kind) {
      case architecture_kind::gpt2:
        to.tokens = table({"transformer.wte", "token_embd"}, x_.vocabulary);
        to.positions = table({"transformer.wpe", "position_embd"}, x_.context);
        break;
      case architecture_kind::llama:
        to.tokens = table({"model.embed_tokens", "token_embd"}, x_.vocabulary);
        break;
      case architecture_kind::bert:
      case architecture_kind::roberta:
      case architecture_kind::deberta:
        add_embeddings();
    }
    for (std::uint32_t i = 0; i < x_.layers; ++i) {
      to.layers.push_back(layer(i));
      to.layers.back().number = i;
    }
    if (x_.kind == architecture_kind::gpt2)
      norm({"transformer.ln_f", "output_norm"}, to.last_norm,
           &to.last_norm_bias);
    else if (x_.kind == architecture_kind::llama)
      norm({"model.norm", "output_norm"}, to.last_norm, nullptr);
    else if (x_.kind == architecture_kind::deberta)
      add_relative();
    if (x_.has_head)
      add_head();
    return std::move(made_);
  }

private:
  std::size_t add(two_names name, std::vector<std::int64_t> shape,
                  bool transposed = false, std::uint32_t interleaved = 0) {
    made_.tensors.push_back({.what = {std::move(name.ours), std::move(shape)},
                             .in_gguf = std::move(name.in_gguf),
                             .transposed = transposed,
                             .interleaved = interleaved});
    return made_.tensors.size() - 1;
  }

  std::size_t table(const two_names& name, std::uint32_t rows) {
    return add(name + two_names{".weight", ".weight"}, {rows, x_.width});
  }

  void norm(const two_names& name, std::size_t& weight, std::size_t* bias) {
    weight = add(name + two_names{".weight", ".weight"}, {x_.width});
    if (bias != nullptr)
      *bias = add(name + two_names{".bias", ".bias"}, {x_.width});
  }

  void linear(const two_names& name, const linear_facts& how,
              std::size_t& weight, std::size_t& bias) {
    weight = add(name + two_names{".weight", ".weight"},
                 {how.outputs, how.inputs}, how.transposed, how.interleaved);
    if (how.bias)
      bias = add(name + two_names{".bias", ".bias"}, {how.outputs}, false,
                 how.interleaved);
  }

  std::string encoder() const {
    return x_.kind == architecture_kind::bert      ? "bert."
           : x_.kind == architecture_kind::roberta ? "roberta."
                                                   : "deberta.";
  }

  void add_embeddings() {
    auto& to = made_.places;
    const auto at = encoder() + "embeddings.";
    to.tokens = table({at + "word_embeddings", "token_embd"}, x_.vocabulary);
    // DeBERTa has places relative to each other alone.
    if (x_.kind != architecture_kind::deberta)
      to.positions = table({at + "position_embeddings", "position_embd"},
                           x_.context + x_.first_position);
    if (x_.types > 0)
      to.types = table({at + "token_type_embeddings", "token_types"}, x_.types);
    norm({at + "LayerNorm", "token_embd_norm"}, to.first_norm,
         &to.first_norm_bias);
  }

  layer_places layer(std::uint32_t i) {
    const auto number = std::to_string(i);
    const auto gguf = "blk." + number + '.';
    switch (x_.kind) {
      case architecture_kind::gpt2:
        return gpt2_layer({"transformer.h." + number + '.', gguf});
      case architecture_kind::llama:
        return llama_layer({"model.layers." + number + '.', gguf});
      case architecture_kind::bert:
      case architecture_kind::roberta:
      case architecture_kind::deberta:
        break;
    }
    return encoder_layer({encoder() + "encoder.layer." + number + '.', gguf});
  }

  layer_places gpt2_layer(const two_names& at) {
    auto to = no_layer;
    const auto width = x_.width;
    norm(at + two_names{"ln_1", "attn_norm"}, to.norm1, &to.norm1_bias);
    linear(at + two_names{"attn.c_attn", "attn_qkv"},
           {.outputs = 3 * width,
            .inputs = width,
            .bias = x_.attention_bias,
            .transposed = true},
           to.query, to.query_bias);
    to.key = to.value = to.query;
    to.key_bias = to.value_bias = to.query_bias;
    linear(at + two_names{"attn.c_proj", "attn_output"},
           {.outputs = width,
            .inputs = width,
            .bias = x_.attention_bias,
            .transposed = true},
           to.output, to.output_bias);
    norm(at + two_names{"ln_2", "ffn_norm"}, to.norm2, &to.norm2_bias);
    linear(at + two_names{"mlp.c_fc", "ffn_up"},
           {.outputs = x_.inner,
            .inputs = width,
            .bias = x_.inner_bias,
            .transposed = true},
           to.up, to.up_bias);
    linear(at + two_names{"mlp.c_proj", "ffn_down"},
           {.outputs = width,
            .inputs = x_.inner,
            .bias = x_.inner_bias,
            .transposed = true},
           to.down, to.down_bias);
    return to;
  }

  layer_places llama_layer(const two_names& at) {
    auto to = no_layer;
    const auto queries = x_.heads * x_.head_width;
    const auto keys = x_.key_heads * x_.head_width;
    linear_facts how{.outputs = queries,
                     .inputs = x_.width,
                     .bias = x_.attention_bias,
                     .interleaved = x_.heads};
    norm(at + two_names{"input_layernorm", "attn_norm"}, to.norm1, nullptr);
    linear(at + two_names{"self_attn.q_proj", "attn_q"}, how, to.query,
           to.query_bias);
    how.outputs = keys;
    how.interleaved = x_.key_heads;
    linear(at + two_names{"self_attn.k_proj", "attn_k"}, how, to.key,
           to.key_bias);
    how.interleaved = 0;
    linear(at + two_names{"self_attn.v_proj", "attn_v"}, how, to.value,
           to.value_bias);
    linear(at + two_names{"self_attn.o_proj", "attn_output"},
           {.outputs = x_.width, .inputs = queries, .bias = x_.attention_bias},
           to.output, to.output_bias);
    norm(at + two_names{"post_attention_layernorm", "ffn_norm"}, to.norm2,
         nullptr);
    std::size_t none = no_place;
    linear(at + two_names{"mlp.gate_proj", "ffn_gate"},
           {.outputs = x_.inner, .inputs = x_.width}, to.gate, none);
    linear(at + two_names{"mlp.up_proj", "ffn_up"},
           {.outputs = x_.inner, .inputs = x_.width}, to.up, to.up_bias);
    linear(at + two_names{"mlp.down_proj", "ffn_down"},
           {.outputs = x_.width, .inputs = x_.inner}, to.down, to.down_bias);
    return to;
  }

  layer_places encoder_layer(const two_names& at) {
    auto to = no_layer;
    const std::string ending =
      x_.kind == architecture_kind::deberta ? "_proj" : "";
    const linear_facts square{
      .outputs = x_.width, .inputs = x_.width, .bias = x_.attention_bias};
    linear(at + two_names{"attention.self.query" + ending, "attn_q"}, square,
           to.query, to.query_bias);
    linear(at + two_names{"attention.self.key" + ending, "attn_k"}, square,
           to.key, to.key_bias);
    linear(at + two_names{"attention.self.value" + ending, "attn_v"}, square,
           to.value, to.value_bias);
    linear(at + two_names{"attention.output.dense", "attn_output"}, square,
           to.output, to.output_bias);
    norm(at + two_names{"attention.output.LayerNorm", "attn_output_norm"},
         to.norm1, &to.norm1_bias);
    linear(at + two_names{"intermediate.dense", "ffn_up"},
           {.outputs = x_.inner, .inputs = x_.width, .bias = x_.inner_bias},
           to.up, to.up_bias);
    linear(at + two_names{"output.dense", "ffn_down"},
           {.outputs = x_.width, .inputs = x_.inner, .bias = x_.inner_bias},
           to.down, to.down_bias);
    norm(at + two_names{"output.LayerNorm", "layer_output_norm"}, to.norm2,
         &to.norm2_bias);
    return to;
  }

  /// Of places relative to each other, all layers have one table.
  void add_relative() {
    auto& to = made_.places;
    const auto rows =
      2 * (x_.relative_buckets > 0 ? x_.relative_buckets : x_.relative_span);
    to.relative = table({"deberta.encoder.rel_embeddings", ""}, rows);
    norm({"deberta.encoder.LayerNorm", ""}, to.relative_norm,
         &to.relative_norm_bias);
  }

  void add_head() {
    auto& to = made_.places;
    const bool is_roberta = x_.kind == architecture_kind::roberta;
    const std::string at = is_roberta ? "lm_head." : "cls.predictions.";
    const std::string transform = is_roberta ? at : at + "transform.";
    if (!x_.is_causal()) {
      linear({transform + "dense", ""},
             {.outputs = x_.width, .inputs = x_.width, .bias = true},
             to.transform, to.transform_bias);
      norm({transform + (is_roberta ? "layer_norm" : "LayerNorm"), ""},
           to.transform_norm, &to.transform_norm_bias);
    }
    if (x_.tied)
      to.head = to.tokens;
    else if (x_.is_causal())
      to.head = table({"lm_head", "output"}, x_.vocabulary);
    else
      to.head = table({at + "decoder", ""}, x_.vocabulary);
    if (x_.head_bias)
      to.head_bias = add({x_.is_causal() ? "lm_head.bias" : at + "bias", ""},
                         {x_.vocabulary});
  }

  const language_spec& x_;
  tensor_table made_;
};

} // namespace

tensor_table table_of(const language_spec& x) {
  return table_maker{x}.make();
}

model_places places_of(const language_spec& x) {
  return table_of(x).places;
}

} // namespace troupe::models
