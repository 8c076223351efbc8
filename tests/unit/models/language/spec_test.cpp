#include "models/language/spec.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/described_models.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::spec_test {

namespace {

using test::llama;
using test::parsed;
using test::refusal;
using test::smollm2;
using test::with;

constexpr const char* gpt2 = R"({
  "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
  "bos_token_id": 50256, "eos_token_id": 50256, "layer_norm_epsilon": 1e-05,
  "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
  "n_inner": null, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257})";

constexpr const char* minilm = R"({
  "architectures": ["BertModel"], "hidden_act": "gelu", "hidden_size": 384,
  "intermediate_size": 1536, "layer_norm_eps": 1e-12,
  "max_position_embeddings": 512, "model_type": "bert",
  "num_attention_heads": 12, "num_hidden_layers": 6, "pad_token_id": 0,
  "position_embedding_type": "absolute", "type_vocab_size": 2,
  "vocab_size": 30522})";

constexpr const char* roberta = R"({
  "architectures": ["RobertaForMaskedLM"], "bos_token_id": 0,
  "eos_token_id": 2, "hidden_act": "gelu", "hidden_size": 768,
  "intermediate_size": 3072, "layer_norm_eps": 1e-05,
  "max_position_embeddings": 514, "model_type": "roberta",
  "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 1,
  "type_vocab_size": 1, "vocab_size": 50265})";

constexpr const char* deberta = R"({
  "model_type": "deberta-v2", "hidden_act": "gelu", "hidden_size": 768,
  "intermediate_size": 3072, "max_position_embeddings": 512,
  "relative_attention": true, "position_buckets": 256,
  "norm_rel_ebd": "layer_norm", "share_att_key": true,
  "pos_att_type": "p2c|c2p", "layer_norm_eps": 1e-7,
  "max_relative_positions": -1, "position_biased_input": false,
  "num_attention_heads": 12, "num_hidden_layers": 12, "type_vocab_size": 0,
  "pad_token_id": 0, "vocab_size": 128100})";

} // namespace

TEST(language_spec, reads_gpt2_with_an_inner_width_that_is_not_said) {
  const auto x = parsed(gpt2);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(describe(*x), "gpt2, 12 layers of 768, 12 heads, 50257 tokens");
  EXPECT_EQ(x->inner, 3072u);
  EXPECT_EQ(x->activation, activation_kind::gelu_tanh);
  EXPECT_TRUE(x->tied && x->attention_bias && x->inner_bias);
  EXPECT_EQ(x->end_token, 50256u);
  EXPECT_TRUE(x->is_causal());
}

// Two passes of one step would draw two models of one.
TEST(language_spec, drops_nothing_whatever_a_file_says_of_that) {
  for (const std::string text : {gpt2, llama, minilm, roberta, deberta}) {
    const auto as_said = parsed(text);
    const auto dropping =
      parsed(R"({"attn_pdrop": 0.1, "embd_pdrop": 0.1, "resid_pdrop": 0.1,
                 "attention_dropout": 0.1, "hidden_dropout_prob": 0.1,
                 "attention_probs_dropout_prob": 0.1,
                 "classifier_dropout": 0.1,)"
             + text.substr(text.find('{') + 1));
    ASSERT_TRUE(as_said && dropping) << text;
    EXPECT_EQ(*as_said, *dropping) << text;
  }
}

TEST(language_spec, reads_llama_with_grouped_heads_and_scaled_places) {
  const auto x = parsed(llama);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(describe(*x),
            "llama, 16 layers of 2048, 32 heads over 8, 128256 tokens");
  EXPECT_EQ(x->rope, (rope_spec{.base = 500000,
                                .width = 64,
                                .scaling = rope_spec::scaling_kind::llama3,
                                .factor = 32,
                                .low = 1,
                                .high = 4,
                                .original_context = 8192}));
  EXPECT_TRUE(x->tied);
  EXPECT_EQ(x->end_token, 128001u) << "of several the first";
  EXPECT_FALSE(
    parsed(with(llama, "\"tie_word_embeddings\": true, ", ""))->tied);
}

TEST(language_spec, reads_encoders) {
  const auto small = parsed(minilm);
  ASSERT_TRUE(small) << small.error().context;
  EXPECT_EQ(describe(*small), "bert, 6 layers of 384, 12 heads, 30522 tokens");
  EXPECT_EQ(small->epsilon, 1e-12);
  EXPECT_EQ(small->activation, activation_kind::gelu);
  EXPECT_EQ(small->types, 2u);
  EXPECT_FALSE(small->has_head);

  const auto counted_on = parsed(roberta);
  ASSERT_TRUE(counted_on) << counted_on.error().context;
  EXPECT_EQ(counted_on->context, 512u);
  EXPECT_EQ(counted_on->first_position, 2u);
  EXPECT_TRUE(counted_on->has_head && counted_on->head_bias);

  const auto relative = parsed(deberta);
  ASSERT_TRUE(relative) << relative.error().context;
  EXPECT_EQ(relative->relative_buckets, 256u);
  EXPECT_EQ(relative->relative_span, 512u);
  EXPECT_EQ(relative->types, 0u);
}

TEST(language_spec, is_written_as_it_is_read) {
  std::vector<language_spec> all{test::small_gpt2(),    test::small_llama(),
                                 test::small_bert(),    test::small_bert(false),
                                 test::small_roberta(), test::small_deberta()};
  for (const auto* text : {gpt2, llama, minilm, roberta, deberta})
    all.push_back(parsed(text).value());
  for (const auto& x : all) {
    const auto text = config_of(x).dump();
    const auto again = parsed(text);
    ASSERT_TRUE(again) << again.error().context;
    EXPECT_EQ(*again, x) << text;
  }
}

TEST(language_spec, refuses_with_the_key_and_what_would_do) {
  const std::vector<std::pair<std::string, std::string>> cases{
    {with(gpt2, "\"n_layer\": 12, ", ""),
     "'n_layer' is not there; a whole number from 1 to 1073741824 would do"},
    {with(gpt2, "\"n_embd\": 768", "\"n_embd\": 7.5"),
     "'n_embd' is 7.500000; a whole number from 1 to 1073741824 would do"},
    {with(gpt2, "\"model_type\": \"gpt2\"", "\"model_type\": \"mamba\""),
     "'model_type' is 'mamba'; \"gpt2\", \"llama\", \"bert\", \"roberta\" or "
     "\"deberta-v2\" would do"},
    {with(gpt2, "\"n_head\": 12", "\"n_head\": 7"),
     "7 heads of 109 are not the width of 768; as many as divide it would do"},
    {with(gpt2, "50257", "2000000"),
     "the model's vocabulary is 2000000; from 1 to 1048576 would do"},
    {with(llama, "\"rope_type\": \"llama3\"", "\"rope_type\": \"longrope\""),
     "'rope_scaling.rope_type' is 'longrope'; \"default\", \"linear\", "
     "\"llama3\" or \"yarn\" would do"},
    {with(llama, "\"rope_type\": \"llama3\"",
          "\"rope_type\": \"yarn\", \"attention_factor\": 0.0"),
     "what rotary embeddings turn becomes 0.000000 times as long; a number "
     "above 0 would do"},
    {with(llama, "\"mlp_bias\": false", "\"mlp_bias\": true"),
     "'mlp_bias' is true; a model in which it is false would do"},
    {with(llama, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5"),
     "32 heads do not share 5 key heads evenly; a divisor would do"},
    {with(llama, "\"silu\"", "\"xielu\""),
     "'hidden_act' is 'xielu'; \"gelu\", \"gelu_new\", \"silu\" or \"relu\" "
     "would do"},
    {with(minilm, "\"type_vocab_size\": 2", "\"type_vocab_size\": 65537"),
     "the model's table of segment types has 65537 rows; at most 65536 would "
     "do"},
    {with(deberta, "\"share_att_key\": true,", ""),
     "'share_att_key' is not true; true, as in DeBERTa-v3, would do"}};
  for (const auto& [text, says] : cases)
    EXPECT_EQ(refusal(parsed(text)), "m/config.json: " + says);
}

TEST(language_spec, of_gguf_is_that_of_its_folder) {
  const auto x = parse_spec(smollm2(), "m.gguf");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(describe(*x),
            "llama, 30 layers of 576, 9 heads over 3, 49152 tokens");
  EXPECT_EQ(x->epsilon, 1e-5) << "and not the float that it is there";
  EXPECT_TRUE(x->tied) << "there is no output.weight";
  EXPECT_EQ(x->rope, (rope_spec{.base = 100000, .width = 64}));
  EXPECT_EQ(*parsed(config_of(*x).dump()), *x);
}

TEST(language_spec, of_gguf_may_say_a_number_for_each_layer) {
  auto x = smollm2();
  x.values["llama.attention.head_count_kv"] = std::vector<std::int64_t>(30, 3);
  EXPECT_EQ(parse_spec(x, "m.gguf")->key_heads, 3u);
  x.values["llama.attention.head_count_kv"] = std::vector<std::int64_t>{3, 9};
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.attention.head_count_kv' is of another kind; a "
            "whole number from 0 to 1073741824 would do");
}

TEST(language_spec, of_gguf_is_refused_where_it_is_another_function) {
  auto x = smollm2();
  x.values["llama.rope.scaling.type"] = std::string{"longrope"};
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.rope.scaling.type' is 'longrope'; \"none\", "
            "\"linear\" or \"yarn\" would do");
  // As many values as would be none if they were counted in 32 bits.
  x = smollm2();
  for (const auto* key :
       {"llama.attention.head_count", "llama.attention.head_count_kv",
        "llama.attention.key_length", "llama.rope.dimension_count"})
    x.values[key] = std::uint64_t{65536};
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 65536 heads of 65536 are 4294967296 wide; at most 1048576 "
            "would do");
  x = smollm2();
  x.values["llama.rope.dimension_count"] = std::uint64_t{32};
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.rope.dimension_count' is not the width of a head; "
            "64 would do");
  x.values["general.architecture"] = std::string{"t5"};
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'general.architecture' is 't5'; \"llama\", \"gpt2\" or "
            "\"bert\" would do");
  EXPECT_EQ(refusal(parse_spec(gguf_header{}, "m.gguf")),
            "m.gguf: 'general.architecture' is not there; \"llama\", \"gpt2\" "
            "or \"bert\" would do");
  x.values["general.architecture"] = std::uint64_t{7};
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'general.architecture' is no text; \"llama\", \"gpt2\" or "
            "\"bert\" would do");
}

TEST(language_spec, of_gguf_has_heads_that_divide_its_width) {
  auto x = smollm2();
  x.values["llama.attention.head_count"] = std::uint64_t{7};
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.attention.head_count' is 7, and as many heads of "
            "82 are not the width of 576; as many as divide it would do");
  x = smollm2();
  x.values["llama.attention.key_length"] = std::uint64_t{64};
  x.values["llama.attention.head_count"] = std::uint64_t{6};
  EXPECT_TRUE(parse_spec(x, "m.gguf"));
}

TEST(language_spec, of_gguf_takes_nothing_for_a_constant) {
  auto x = smollm2();
  x.values.erase("llama.attention.layer_norm_rms_epsilon");
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.attention.layer_norm_rms_epsilon' is not there; a "
            "number would do");
  x = smollm2();
  x.values["llama.rope.scaling.type"] = std::string{"linear"};
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.rope.scaling.factor' is not there; a number would "
            "do");
  x.values["llama.rope.scaling.factor"] = 2.0;
  EXPECT_EQ(parse_spec(x, "m.gguf")->rope.factor, 2);
}

TEST(language_spec, of_gguf_is_held_against_its_tensors) {
  auto x = smollm2();
  x.values["llama.vocab_size"] = std::uint64_t{49151};
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.vocab_size' is 49151, and 'token_embd.weight' has "
            "49152 rows; as many of both would do");
  x.values["llama.vocab_size"] = std::uint64_t{49152};
  x.values["llama.attention.key_length"] = std::uint64_t{32};
  x.tensors.push_back({.name = "blk.0.attn_q.weight", .shape = {576, 576}});
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.attention.key_length' is 32, and "
            "'blk.0.attn_q.weight' has 576 rows for 9 heads; 64 would do");
  x.values["llama.attention.key_length"] = std::uint64_t{64};
  x.values["llama.rope.dimension_count"] = std::uint64_t{64};
  EXPECT_TRUE(parse_spec(x, "m.gguf"));
}

} // namespace troupe::models::spec_test
