#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/language/tokenizer.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace troupe::models::tokenizer_gguf_test {

namespace {

using ids = std::vector<token_id>;

/// The letters of bytes, "he", and <|end|>, which is 257.
gguf_header small_header() {
  std::vector<std::string> tokens;
  for (const auto& [text, id] : test::letters_and({{"h", "e"}}))
    tokens.push_back(text);
  tokens.emplace_back("<|end|>");
  std::vector<std::int64_t> kinds(tokens.size(), 1);
  kinds.back() = 3;
  gguf_header x;
  x.version = 3;
  x.values["tokenizer.ggml.model"] = std::string{"gpt2"};
  x.values["tokenizer.ggml.pre"] = std::string{"smollm"};
  x.values["tokenizer.ggml.tokens"] = std::move(tokens);
  x.values["tokenizer.ggml.merges"] = std::vector<std::string>{"h e"};
  x.values["tokenizer.ggml.token_type"] = std::move(kinds);
  x.values["tokenizer.ggml.bos_token_id"] = std::uint64_t{257};
  x.values["tokenizer.ggml.eos_token_id"] = std::uint64_t{257};
  return x;
}

std::shared_ptr<const tokenizer> read(const gguf_header& x) {
  auto made = tokenizer_of(x, "some.gguf");
  EXPECT_TRUE(made) << made.error().context;
  return std::move(*made);
}

std::string refusal(const gguf_header& x) {
  const auto made = tokenizer_of(x, "some.gguf");
  if (made)
    return "read";
  EXPECT_EQ(made.error().code, errc::invalid_data);
  return made.error().context;
}

} // namespace

TEST(tokenizer_gguf, cuts_as_its_file_says) {
  const auto by = read(small_header());
  EXPECT_EQ(by->kind(), "bpe");
  EXPECT_EQ(by->size(), 258U);
  EXPECT_EQ(test::ids_of(*by, "he 12"), (ids{256, ' ', '1', '2'}));
  EXPECT_EQ(by->decode(std::vector<token_id>{256, ' ', 257}).value(),
            "he <|end|>");
}

TEST(tokenizer_gguf, special_tokens_are_those_of_its_keys) {
  const auto by = read(small_header());
  EXPECT_EQ(by->special().end, std::optional<token_id>{257});
  EXPECT_FALSE(by->special().pad);
  EXPECT_EQ(test::ids_of(*by, "<|end|>").size(), 7U);
  ids xs;
  ASSERT_TRUE(by->encode("<|end|>", special_rule::as_tokens, xs));
  EXPECT_EQ(xs, (ids{257}));
}

TEST(tokenizer_gguf, begins_a_text_where_its_file_says) {
  EXPECT_TRUE(read(small_header())->before().empty());
  auto x = small_header();
  x.values["tokenizer.ggml.add_bos_token"] = true;
  x.values["tokenizer.ggml.add_eos_token"] = true;
  EXPECT_EQ(read(x)->before(), (ids{257}));
  EXPECT_EQ(read(x)->after(), (ids{257}));
  auto llama = small_header();
  llama.values["tokenizer.ggml.pre"] = std::string{"llama-bpe"};
  EXPECT_EQ(read(llama)->before(), (ids{257}));
}

TEST(tokenizer_gguf, its_content_has_how_text_is_cut) {
  auto other = small_header();
  other.values["tokenizer.ggml.pre"] = std::string{"gpt-2"};
  EXPECT_EQ(read(small_header())->content(), read(small_header())->content());
  EXPECT_NE(read(small_header())->content(), read(other)->content());
}

TEST(tokenizer_gguf, names_kinds_that_it_does_not_read) {
  auto x = small_header();
  x.values["tokenizer.ggml.model"] = std::string{"llama"};
  EXPECT_EQ(refusal(x),
            "some.gguf: its tokenizer is of kind 'llama' (SentencePiece), "
            "which is not read here; a tokenizer.json of the same model would "
            "do");
  x.values["tokenizer.ggml.model"] = std::string{"bert"};
  EXPECT_EQ(refusal(x),
            "some.gguf: its tokenizer is of kind 'bert' (WordPiece), which is "
            "not read here; a tokenizer.json of the same model would do");
  x.values["tokenizer.ggml.model"] = std::string{"rwkv"};
  EXPECT_EQ(refusal(x),
            "some.gguf: its tokenizer is of kind 'rwkv', which is not read "
            "here; a tokenizer.json of the same model would do");
  x.values.erase("tokenizer.ggml.model");
  EXPECT_EQ(refusal(x),
            "some.gguf: it has no tokenizer.ggml.model; a tokenizer.json of "
            "the same model would do");
}

TEST(tokenizer_gguf, names_cuts_that_it_does_not_know) {
  auto x = small_header();
  x.values["tokenizer.ggml.pre"] = std::string{"tekken"};
  EXPECT_EQ(refusal(x),
            "some.gguf: its text is cut as 'tekken' says (tokenizer.ggml.pre), "
            "which is not known here; a tokenizer.json of the same model would "
            "do");
  x.values.erase("tokenizer.ggml.pre");
  EXPECT_EQ(refusal(x),
            "some.gguf: its text is cut as tokenizer.ggml.pre does not say; a "
            "tokenizer.json of the same model would do");
}

TEST(tokenizer_gguf, names_kinds_of_tokens_that_it_does_not_know) {
  auto x = small_header();
  for (const std::int64_t kind : {-1, 7, 99}) {
    std::vector<std::int64_t> kinds(258, 6);
    kinds[3] = kind;
    x.values["tokenizer.ggml.token_type"] = kinds;
    EXPECT_EQ(refusal(x), "some.gguf: token 3 is of kind "
                            + std::to_string(kind)
                            + " in tokenizer.ggml.token_type; kinds from 0 to "
                              "6 would do");
  }
}

TEST(tokenizer_gguf, puts_nothing_around_a_text_that_is_no_token) {
  auto x = small_header();
  x.values["tokenizer.ggml.add_bos_token"] = true;
  x.values.erase("tokenizer.ggml.bos_token_id");
  EXPECT_EQ(refusal(x),
            "some.gguf: tokenizer.ggml.add_bos_token is true, and there is no "
            "tokenizer.ggml.bos_token_id; an id, or false, would do");
  x.values["tokenizer.ggml.add_bos_token"] = false;
  EXPECT_EQ(refusal(x), "read");
  x.values["tokenizer.ggml.add_eos_token"] = true;
  x.values.erase("tokenizer.ggml.eos_token_id");
  EXPECT_EQ(refusal(x),
            "some.gguf: tokenizer.ggml.add_eos_token is true, and there is no "
            "tokenizer.ggml.eos_token_id; an id, or false, would do");
}

TEST(tokenizer_gguf, names_lists_that_do_not_fit) {
  auto x = small_header();
  x.values["tokenizer.ggml.token_type"] = std::vector<std::int64_t>{1};
  EXPECT_EQ(refusal(x),
            "some.gguf: tokenizer.ggml.token_type is of 1 tokens, and there "
            "are 258; a kind for each would do");
  x = small_header();
  x.values["tokenizer.ggml.merges"] = std::vector<std::string>{"h  e"};
  EXPECT_EQ(refusal(x),
            "some.gguf: merge 1 is 'h  e'; two tokens with a space between "
            "would do");
  x.values.erase("tokenizer.ggml.merges");
  EXPECT_EQ(refusal(x),
            "some.gguf: it has a vocabulary of 258 tokens and no merges; the "
            "merges of the same tokenizer would do");
  x.values["tokenizer.ggml.eos_token_id"] = std::uint64_t{258};
  x.values["tokenizer.ggml.merges"] = std::vector<std::string>{"h e"};
  EXPECT_EQ(refusal(x),
            "some.gguf: tokenizer.ggml.eos_token_id is of no token; "
            "ids from 0 to 257 would do");
  x.values["tokenizer.ggml.eos_token_id"] = 256.5;
  EXPECT_EQ(refusal(x),
            "some.gguf: tokenizer.ggml.eos_token_id is of no token; "
            "ids from 0 to 257 would do");
  x.values.erase("tokenizer.ggml.tokens");
  EXPECT_EQ(refusal(x),
            "some.gguf: it has 0 tokens in tokenizer.ggml.tokens; 1 "
            "to 1048576 would do");
}

TEST(tokenizer_gguf, says_what_is_there_and_of_another_kind) {
  const std::vector<std::int64_t> numbers{1, 2};
  const std::vector<std::pair<std::string, std::string>> all{
    {"tokens", "a list of texts"},
    {"merges", "a list of texts"},
    {"model", "a text"}};
  for (const auto& [name, wanted] : all) {
    auto x = small_header();
    x.values["tokenizer.ggml." + name] = numbers;
    EXPECT_EQ(refusal(x), "some.gguf: tokenizer.ggml." + name
                            + " is of another kind; " + wanted + " would do");
  }
}

} // namespace troupe::models::tokenizer_gguf_test
