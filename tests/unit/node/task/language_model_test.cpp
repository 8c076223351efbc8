// What [model] of a language model says.

#include "node/task/language_model.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

#include "core/random.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::test::language_model_test {

namespace {

using node::model_options;

node::experiment of_sizes(model_options::architecture_rule what) {
  node::experiment x;
  x.data.kind = node::data_options::format::language;
  x.data.context = 24;
  x.model.kind = model_options::shape::language;
  x.model.architecture = what;
  x.model.layers = 3;
  x.model.embedding = 16;
  x.model.heads = 4;
  return x;
}

models::language_spec spec_of(const node::experiment& x) {
  const auto base = node::base_of(x, 257);
  EXPECT_TRUE(base) << base.error().context;
  return base ? (*base)->spec() : models::language_spec{};
}

std::string refusal(const node::experiment& x) {
  const auto base = node::base_of(x, 257);
  EXPECT_FALSE(base);
  if (base)
    return {};
  EXPECT_EQ(base.error().code, errc::invalid_config);
  return base.error().context;
}

} // namespace

TEST(base_of_a_run, has_the_sizes_that_are_said) {
  auto x = of_sizes(model_options::architecture_rule::gpt2);
  const auto gpt2 = spec_of(x);
  EXPECT_EQ(models::describe(gpt2),
            "gpt2, 3 layers of 16, 4 heads, 257 tokens");
  EXPECT_EQ(gpt2.context, 24u);
  EXPECT_EQ(gpt2.inner, 64u);
  EXPECT_TRUE(gpt2.attention_bias && gpt2.inner_bias && gpt2.tied);
  x.model.inner = 40;
  EXPECT_EQ(spec_of(x).inner, 40u);
}

TEST(base_of_a_run, is_a_llama_with_shared_heads) {
  auto x = of_sizes(model_options::architecture_rule::llama);
  EXPECT_EQ(spec_of(x).key_heads, 4u);
  x.model.key_heads = 2;
  const auto llama = spec_of(x);
  EXPECT_EQ(models::describe(llama),
            "llama, 3 layers of 16, 4 heads over 2, 257 tokens");
  EXPECT_EQ(llama.inner, 64u); // 8/3 of 16 is 43: the next multiple of 32.
  EXPECT_EQ(llama.rope.width, 4u);
  EXPECT_FALSE(llama.attention_bias);
  EXPECT_EQ(llama.activation, models::activation_kind::silu);
}

TEST(base_of_a_run, begins_as_its_seed_says) {
  auto x = of_sizes(model_options::architecture_rule::gpt2);
  const auto one = node::base_of(x, 257);
  ASSERT_TRUE(one);
  EXPECT_TRUE((*one)->is_made());
  EXPECT_EQ(
    (*one)->values(),
    models::initial_weights((*one)->spec(), derive_seed(x.seed, "initial")));
  x.seed = 2;
  const auto other = node::base_of(x, 257);
  ASSERT_TRUE(other);
  EXPECT_NE((*one)->content(), (*other)->content());
}

TEST(base_of_a_run, is_a_file_where_one_is_said) {
  const scratch_folder at;
  const auto spec = troupe::test::small_llama();
  const auto values = models::initial_weights(spec, 3);
  const auto ok = models::write_base(at.path() + "/model", spec, values);
  ASSERT_TRUE(ok) << ok.error().context;
  auto x = of_sizes(model_options::architecture_rule::gpt2);
  x.model.path = at.path() + "/model";
  const auto base = node::base_of(x, 257);
  ASSERT_TRUE(base) << base.error().context;
  EXPECT_EQ((*base)->values(), values);
  EXPECT_FALSE((*base)->is_made());
  x.model.storage = model_options::storage_rule::bf16;
  const auto rounded = node::base_of(x, 257);
  ASSERT_TRUE(rounded);
  EXPECT_NE((*rounded)->content(), (*base)->content());
  x.model.path = at.path() + "/none";
  const auto none = node::base_of(x, 257);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().context, ::testing::HasSubstr("/none"));
}

TEST(base_of_a_run, may_have_a_few_rows_more_than_there_are_tokens) {
  model_options x;
  EXPECT_EQ(node::about_vocabulary(x, 257, 49152), "") << "it has as many";
  x.path = "base";
  struct one {
    std::uint32_t tokens, rows;
    bool is_said;
  };
  for (const auto& y :
       {one{257, 257, false}, one{50257, 50304, false},
        one{49152, 49154, false}, one{99, 100, false}, one{98, 100, true},
        one{101, 100, false}, one{102, 100, true}, one{257, 49152, true},
        one{49152, 257, true}})
    EXPECT_EQ(node::about_vocabulary(x, y.tokens, y.rows),
              y.is_said ? "base: has embeddings of " + std::to_string(y.rows)
                            + " tokens, and the tokenizer has "
                            + std::to_string(y.tokens)
                            + ": it may be another model's; 'data.tokenizer' "
                              "says which it is"
                        : std::string{})
      << y.tokens << " of " << y.rows;
}

TEST(base_of_a_run, does_not_see_what_it_should_foretell) {
  auto x = of_sizes(model_options::architecture_rule::bert);
  EXPECT_EQ(refusal(x),
            "[model]: is bert, 3 layers of 16, 4 heads, 257 tokens, which "
            "sees the tokens that it should foretell; a gpt2 or a llama would "
            "do");
  const scratch_folder at;
  const auto spec = troupe::test::small_bert();
  const auto ok = models::write_base(at.path() + "/model", spec,
                                     models::initial_weights(spec, 3));
  ASSERT_TRUE(ok) << ok.error().context;
  x.model.path = at.path() + "/model";
  EXPECT_THAT(refusal(x), ::testing::StartsWith(x.model.path + ": is bert, "));
}

TEST(base_of_a_run, has_heads_that_divide_its_width) {
  auto x = of_sizes(model_options::architecture_rule::gpt2);
  x.model.heads = 5;
  EXPECT_EQ(refusal(x), "[model]: 5 heads of 3 are not the width of 16; as "
                        "many as divide it would do");
}

} // namespace troupe::test::language_model_test
