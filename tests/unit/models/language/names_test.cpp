#include "models/language/names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/small_language.hpp"

namespace troupe::models {

namespace {

using test::small_bert;
using test::small_deberta;
using test::small_gpt2;
using test::small_llama;
using test::small_roberta;

std::vector<language_spec> all_kinds() {
  return {small_gpt2(),      small_llama(),   small_bert(),
          small_bert(false), small_roberta(), small_deberta()};
}

const tensor_spec& named(const tensor_list& all, std::size_t place) {
  static const tensor_spec none{"none", {}};
  return place == no_place ? none : all.at(place);
}

} // namespace

TEST(language_names, come_to_as_many_values_as_published) {
  auto smollm2 = small_llama();
  smollm2.vocabulary = 49152;
  smollm2.width = 576;
  smollm2.layers = 30;
  smollm2.heads = 9;
  smollm2.key_heads = 3;
  smollm2.head_width = 64;
  smollm2.inner = 1536;
  EXPECT_EQ(size_of(tensors_of(smollm2)), 134'515'008u);
  auto minilm = small_bert(false);
  minilm.vocabulary = 30522;
  minilm.context = 512;
  minilm.width = 384;
  minilm.layers = 6;
  minilm.inner = 1536;
  EXPECT_EQ(size_of(tensors_of(minilm)), 22'713'216u - 147'840u)
    << "but for its pooler";
}

// By what their files say of them, and without their weights.
TEST(language_names, of_each_gpt2_come_to_as_many_values_as_published) {
  struct published {
    const char *name, *layers, *width, *heads;
    std::size_t values;
  };
  const published all[] = {{"gpt2", "12", "768", "12", 124'439'808},
                           {"gpt2-medium", "24", "1024", "16", 354'823'168},
                           {"gpt2-large", "36", "1280", "20", 774'030'080},
                           {"gpt2-xl", "48", "1600", "25", 1'557'611'200}};
  for (const auto& x : all) {
    SCOPED_TRACE(x.name);
    const auto config =
      json::parse(std::string{R"({"architectures": ["GPT2LMHeadModel"],
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05,
        "model_type": "gpt2", "n_ctx": 1024, "n_positions": 1024,
        "vocab_size": 50257, "n_layer": )"}
                  + x.layers + ", \"n_embd\": " + x.width
                  + ", \"n_head\": " + x.heads + "}");
    ASSERT_TRUE(config) << config.error().context;
    const auto spec = parse_spec(*config, x.name);
    ASSERT_TRUE(spec) << spec.error().context;
    EXPECT_EQ(spec->head_width, 64u);
    EXPECT_EQ(size_of(tensors_of(*spec)), x.values);
  }
}

TEST(language_names, are_in_places_that_say_what_they_are) {
  const auto llama = tensors_of(small_llama());
  const auto at = places_of(small_llama());
  const auto& layer = at.layers[1];
  EXPECT_EQ(named(llama, layer.query).name,
            "model.layers.1.self_attn.q_proj.weight");
  EXPECT_EQ(named(llama, layer.query).shape,
            (std::vector<std::int64_t>{16, 8}));
  EXPECT_EQ(named(llama, layer.key).shape, (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(named(llama, layer.down).shape, (std::vector<std::int64_t>{8, 12}));
  EXPECT_EQ(named(llama, layer.norm2).name,
            "model.layers.1.post_attention_layernorm.weight");
  EXPECT_EQ(layer.query_bias, no_place);
  EXPECT_EQ(layer.norm1_bias, no_place);
  EXPECT_EQ(at.head, at.tokens);
  EXPECT_EQ(at.first_norm, no_place);

  const auto gpt2 = places_of(small_gpt2()).layers[0];
  EXPECT_EQ(gpt2.key, gpt2.query);
  EXPECT_EQ(gpt2.value, gpt2.query);
  EXPECT_EQ(gpt2.value_bias, gpt2.query_bias);
  EXPECT_EQ(gpt2.gate, no_place);
  EXPECT_EQ(named(tensors_of(small_gpt2()), gpt2.query).shape,
            (std::vector<std::int64_t>{24, 8}));

  const auto bert = tensors_of(small_bert());
  const auto in_bert = places_of(small_bert());
  EXPECT_EQ(named(bert, in_bert.layers[1].norm2).name,
            "bert.encoder.layer.1.output.LayerNorm.weight");
  EXPECT_EQ(named(bert, in_bert.transform_norm_bias).name,
            "cls.predictions.transform.LayerNorm.bias");
  EXPECT_EQ(places_of(small_bert(false)).head, no_place);
  const auto roberta = places_of(small_roberta());
  EXPECT_EQ(named(tensors_of(small_roberta()), roberta.positions).shape,
            (std::vector<std::int64_t>{18, 8}));
  const auto deberta = places_of(small_deberta());
  EXPECT_EQ(deberta.positions, no_place);
  EXPECT_EQ(named(tensors_of(small_deberta()), deberta.relative).shape,
            (std::vector<std::int64_t>{8, 8}));
}

TEST(language_names, are_each_once_and_each_in_a_place) {
  for (const auto& x : all_kinds()) {
    const auto all = tensors_of(x);
    const auto at = places_of(x);
    std::vector<int> seen(all.size());
    const auto see = [&](std::size_t place) {
      if (place != no_place)
        ++seen.at(place);
    };
    for (const auto place :
         {at.tokens, at.positions, at.types, at.first_norm, at.first_norm_bias,
          at.last_norm, at.last_norm_bias, at.relative, at.relative_norm,
          at.relative_norm_bias, at.head, at.head_bias, at.transform,
          at.transform_bias, at.transform_norm, at.transform_norm_bias})
      see(place);
    for (const auto& layer : at.layers)
      for (const auto place :
           {layer.query, layer.key, layer.value, layer.output, layer.up,
            layer.gate, layer.down, layer.norm1, layer.norm2, layer.query_bias,
            layer.key_bias, layer.value_bias, layer.output_bias, layer.up_bias,
            layer.down_bias, layer.norm1_bias, layer.norm2_bias})
        see(place);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_GE(seen[i], 1) << all[i].name;
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_NE(all[j].name, all[i].name);
    }
  }
}

TEST(language_names, are_others_in_gguf) {
  const auto llama = small_llama();
  const auto query = source_of(llama, weights_format::gguf,
                               "model.layers.1.self_attn.q_proj.weight");
  EXPECT_EQ(query.name, "blk.1.attn_q.weight");
  EXPECT_EQ(query.interleaved, 4u);
  const auto key = source_of(llama, weights_format::gguf,
                             "model.layers.1.self_attn.k_proj.weight");
  EXPECT_EQ(key.interleaved, 2u);
  EXPECT_EQ(source_of(llama, weights_format::gguf,
                      "model.layers.1.self_attn.v_proj.weight")
              .interleaved,
            0u);
  EXPECT_EQ(source_of(llama, weights_format::safetensors,
                      "model.layers.1.self_attn.q_proj.weight")
              .interleaved,
            0u);
  const auto fused = "transformer.h.0.attn.c_attn.weight";
  EXPECT_EQ(source_of(small_gpt2(), weights_format::gguf, fused).name,
            "blk.0.attn_qkv.weight");
  EXPECT_FALSE(source_of(small_gpt2(), weights_format::gguf, fused).transposed);
  EXPECT_TRUE(
    source_of(small_gpt2(), weights_format::safetensors, fused).transposed);
  EXPECT_FALSE(source_of(small_gpt2(), weights_format::safetensors,
                         "transformer.wte.weight")
                 .transposed);
}

TEST(language_names, say_what_is_of_attention_and_what_of_the_rest) {
  for (const auto& x : all_kinds()) {
    const auto all = tensors_of(x);
    const auto at = places_of(x);
    for (const auto& layer : at.layers) {
      for (const auto place : {layer.query, layer.key, layer.output}) {
        EXPECT_TRUE(is_of_attention(x, all[place].name)) << all[place].name;
        EXPECT_FALSE(is_of_feed_forward(x, all[place].name));
      }
      for (const auto place : {layer.up, layer.down}) {
        EXPECT_FALSE(is_of_attention(x, all[place].name)) << all[place].name;
        EXPECT_TRUE(is_of_feed_forward(x, all[place].name)) << all[place].name;
      }
      for (const auto place : {layer.norm1, layer.norm2}) {
        EXPECT_FALSE(is_of_attention(x, all[place].name)) << all[place].name;
        EXPECT_FALSE(is_of_feed_forward(x, all[place].name));
      }
    }
    EXPECT_FALSE(is_of_attention(x, all[at.tokens].name));
  }
}

} // namespace troupe::models
