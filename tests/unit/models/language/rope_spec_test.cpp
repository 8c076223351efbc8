// How a model's places are turned, as its files say.

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/language/spec.hpp"
#include "tests/support/described_models.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::rope_spec_test {

namespace {

using test::llama;
using test::parsed;
using test::refusal;
using test::smollm2;
using test::with;
using ::testing::HasSubstr;

} // namespace

TEST(language_spec, reads_scalings_by_either_of_their_keys) {
  const auto linear =
    parsed(with(llama, "\"rope_type\": \"llama3\"", "\"type\": \"linear\""));
  ASSERT_TRUE(linear) << linear.error().context;
  EXPECT_EQ(linear->rope.scaling, rope_spec::scaling_kind::linear);
  EXPECT_EQ(linear->rope.factor, 32);
  const auto newer =
    parsed(with(with(llama, "\"rope_scaling\": {",
                     "\"rope_parameters\": {\"rope_theta\": 250000.0, "),
                "\"rope_theta\": 500000.0, \"tie", "\"tie"));
  ASSERT_TRUE(newer) << newer.error().context;
  EXPECT_EQ(newer->rope.base, 250000);
  EXPECT_EQ(newer->rope.scaling, rope_spec::scaling_kind::llama3);
}

TEST(language_spec,
     of_two_places_of_a_turning_reads_the_one_the_reference_does) {
  const auto of = [](const std::string& said) {
    const auto x = parsed(
      with(with(llama, "\"rope_scaling\": {", said + "\"unread\": {"),
           "\"rope_theta\": 500000.0, \"tie", "\"rope_theta\": 7.0, \"tie"));
    EXPECT_TRUE(x) << x.error().context;
    return x ? x->rope : rope_spec{};
  };
  const std::string newer = "\"rope_parameters\": {\"rope_theta\": 3.0, "
                            "\"rope_type\": \"linear\", \"factor\": 2.0}, ";
  const auto both =
    of(newer + "\"rope_scaling\": {\"type\": \"linear\", \"factor\": 4.0}, ");
  EXPECT_EQ(both.factor, 4);
  EXPECT_EQ(both.base, 7) << "of the top: it is not said where the scaling is";
  for (const auto* nothing : {"{}", "null"}) {
    const auto x =
      of(newer + "\"rope_scaling\": " + std::string{nothing} + ", ");
    EXPECT_EQ(x.factor, 2) << nothing;
    EXPECT_EQ(x.base, 3) << "it goes before the one at the top";
  }
  EXPECT_EQ(of("").base, 7);
  EXPECT_EQ(of("\"partial_rotary_factor\": 1.0, \"rope_scaling\": "
               "{\"partial_rotary_factor\": 0.5}, ")
              .width,
            of("").width / 2);
}

TEST(language_spec, refuses_a_scaling_that_is_no_object) {
  for (const auto* name : {"rope_scaling", "rope_parameters"})
    for (const auto* said : {"\"linear\"", "5", "[]", "false"})
      EXPECT_EQ(refusal(parsed(with(llama, "\"rope_scaling\": {",
                                    "\"" + std::string{name} + "\": " + said
                                      + ", \"unread\": {"))),
                "m/config.json: '" + std::string{name} + "' is " + said
                  + "; an object or null would do");
}

TEST(language_spec, reads_yarn_with_the_length_that_is_said_or_follows) {
  const auto of = [](const std::string& more) {
    const auto x = parsed(with(llama, "\"rope_type\": \"llama3\"",
                               "\"rope_type\": \"yarn\"" + more));
    EXPECT_TRUE(x) << x.error().context;
    return x ? x->rope : rope_spec{};
  };
  const auto plain = of("");
  EXPECT_EQ(plain.scaling, rope_spec::scaling_kind::yarn);
  EXPECT_EQ(plain.low, 1);
  EXPECT_EQ(plain.high, 32);
  EXPECT_EQ(plain.original_context, 8192u);
  EXPECT_TRUE(plain.whole_pairs);
  EXPECT_NEAR(plain.length, 1.34657359, 1e-8) << "1 + log(32) / 10";
  EXPECT_EQ(of(", \"attention_factor\": 0.75").length, 0.75);
  EXPECT_NEAR(of(", \"mscale\": 2.0, \"mscale_all_dim\": 0.5").length,
              1.69314718 / 1.17328680, 1e-8);
  const auto other =
    of(", \"beta_slow\": 0.5, \"beta_fast\": 8, \"truncate\": false");
  EXPECT_EQ(other.low, 0.5);
  EXPECT_EQ(other.high, 8);
  EXPECT_FALSE(other.whole_pairs);
  // As it is written it is read again.
  const auto x = parsed(
    with(llama, "\"rope_type\": \"llama3\"",
         "\"rope_type\": \"yarn\", \"beta_fast\": 8, \"truncate\": false"));
  ASSERT_TRUE(x);
  EXPECT_EQ(parsed(config_of(*x).dump())->rope, x->rope);
}

// What another model has would be another function.
TEST(language_spec, of_a_scaling_takes_nothing_for_a_constant) {
  const auto is_not_there = [](const std::string& key) {
    return "m/config.json: 'rope_scaling." + key + "' is not there; a ";
  };
  const auto without = [](const std::string& text) {
    return refusal(parsed(with(llama, text, "")));
  };
  EXPECT_EQ(without("\"factor\": 32.0, "),
            is_not_there("factor") + "number would do");
  EXPECT_EQ(without("\"low_freq_factor\": 1.0, "),
            is_not_there("low_freq_factor") + "number would do");
  EXPECT_EQ(without("\"high_freq_factor\": 4.0,"),
            is_not_there("high_freq_factor") + "number would do");
  EXPECT_EQ(without("\"original_max_position_embeddings\": 8192,"),
            is_not_there("original_max_position_embeddings")
              + "whole number from 1 to 1073741824 would do");
  for (const auto* kind : {"linear", "yarn"})
    EXPECT_EQ(refusal(parsed(
                with(with(llama, "llama3", kind), "\"factor\": 32.0, ", ""))),
              is_not_there("factor") + "number would do");
  // Files of before there was a key have the base that was meant then.
  const auto old = parsed(
    with(with(llama, "\"rope_type\": \"llama3\"", "\"rope_type\": \"default\""),
         "\"rope_theta\": 500000.0, ", ""));
  ASSERT_TRUE(old) << old.error().context;
  EXPECT_EQ(old->rope.base, 10000);
}

TEST(language_spec, of_gguf_takes_a_factor_alone_for_one_of_linear) {
  const auto of = [](const std::string& key, double factor) {
    auto x = smollm2();
    x.values["llama.rope." + key] = factor;
    const auto spec = parse_spec(x, "m.gguf");
    EXPECT_TRUE(spec) << spec.error().context;
    return spec ? spec->rope : rope_spec{};
  };
  for (const auto* key : {"scaling.factor", "scale_linear"}) {
    EXPECT_EQ(of(key, 4).scaling, rope_spec::scaling_kind::linear) << key;
    EXPECT_EQ(of(key, 4).factor, 4) << key;
    for (const double nothing : {0., 1.})
      EXPECT_EQ(of(key, nothing), parse_spec(smollm2(), "m.gguf")->rope) << key;
  }
  auto both = smollm2();
  both.values["llama.rope.scaling.factor"] = 2.0;
  both.values["llama.rope.scale_linear"] = 8.0;
  EXPECT_EQ(parse_spec(both, "m.gguf")->rope.factor, 2);
  both.values["llama.rope.scaling.type"] = std::string{"none"};
  EXPECT_EQ(parse_spec(both, "m.gguf")->rope,
            parse_spec(smollm2(), "m.gguf")->rope);
}

TEST(language_spec, of_gguf_reads_yarn_as_its_folder_says_it) {
  auto x = smollm2();
  x.values["llama.rope.scaling.type"] = std::string{"yarn"};
  x.values["llama.rope.scaling.factor"] = 4.0;
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.rope.scaling.original_context_length' is not "
            "there; a whole number from 1 to 1073741824 would do");
  x.values["llama.rope.scaling.original_context_length"] = std::uint64_t{2048};
  const auto plain = parse_spec(x, "m.gguf");
  ASSERT_TRUE(plain) << plain.error().context;
  EXPECT_EQ(plain->rope.scaling, rope_spec::scaling_kind::yarn);
  EXPECT_EQ(plain->rope.factor, 4);
  EXPECT_EQ(plain->rope.low, 1);
  EXPECT_EQ(plain->rope.high, 32);
  EXPECT_EQ(plain->rope.original_context, 2048u);
  EXPECT_TRUE(plain->rope.whole_pairs);
  EXPECT_NEAR(plain->rope.length, 1.13862944, 1e-8) << "1 + log(4) / 10";
  EXPECT_EQ(*parsed(config_of(*plain).dump()), *plain);
  x.values["llama.rope.scaling.yarn_beta_fast"] = 8.0;
  x.values["llama.rope.scaling.yarn_beta_slow"] = 0.5;
  x.values["llama.rope.scaling.attn_factor"] = 0.5;
  const auto other = parse_spec(x, "m.gguf");
  ASSERT_TRUE(other) << other.error().context;
  EXPECT_EQ(other->rope.low, 0.5);
  EXPECT_EQ(other->rope.high, 8);
  EXPECT_NEAR(other->rope.length, 1.13862944 / 2, 1e-8);
  x.values["llama.rope.scaling.yarn_ext_factor"] = 0.5;
  EXPECT_EQ(refusal(parse_spec(x, "m.gguf")),
            "m.gguf: 'llama.rope.scaling.yarn_ext_factor' is not 1; 1 would "
            "do");
}

TEST(language_spec, takes_the_scaling_of_llama_3_from_its_divisors) {
  const test::scratch_folder folder;
  // Of a head of four values and a base of 10^8, pairs turn once in 2 pi and in
  // 62,832 tokens: below 8192 / 4 there is no divisor, above 8192 the whole.
  const auto read = [&](const std::vector<float>& divisors) {
    auto file = test::keys_of_small_llama(1e8f);
    file.tensor("token_embd.weight", {11, 8}, std::vector<float>(88));
    file.tensor("rope_freqs.weight", {2}, divisors);
    const auto path = folder.path() + "/m.gguf";
    file.write(path);
    return read_spec(*weight_files::open(path).value());
  };
  const auto scaled = read({1, 32});
  ASSERT_TRUE(scaled) << scaled.error().context;
  EXPECT_EQ(scaled->rope.scaling, rope_spec::scaling_kind::llama3);
  EXPECT_EQ(scaled->rope.factor, 32);
  EXPECT_EQ(scaled->rope.original_context, 8192u);
  EXPECT_THAT(refusal(read({7, 32})),
              HasSubstr("/m.gguf: 'rope_freqs.weight' is not the scaling of "
                        "Llama 3 (from 1 to 4 over a context of 8192)"));
}

} // namespace troupe::models::rope_spec_test
