#include "models/language/word_tokens.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace troupe::models::word_tokens_test {

namespace {

using ends = std::pair<std::size_t, std::size_t>;

word_tokens of(std::string_view text) {
  auto made = word_tokens::of(text, *byte_tokenizer());
  EXPECT_TRUE(made) << made.error().context;
  return made ? std::move(*made)
              : word_tokens::of("", *byte_tokenizer()).value();
}

} // namespace

TEST(word_tokens, are_all_of_a_text) {
  for (const std::string text : {"", "a", " a", "it is  me\n\nnow ", "  "}) {
    const auto ids = of(text).ids();
    EXPECT_EQ(std::string(ids.begin(), ids.end()), text);
  }
}

TEST(word_tokens, have_the_blank_before_a_word_with_it) {
  const auto x = of("it is  me");
  EXPECT_EQ(x.of_bytes(0, 2), ends(0, 1));
  EXPECT_EQ(x.of_bytes(3, 4), ends(2, 4));
  EXPECT_EQ(x.of_bytes(7, 9), ends(6, 8)); // One of two blanks.
  EXPECT_EQ(x.of_bytes(4, 8), ends(2, 8));
}

TEST(word_tokens, are_nowhere_where_a_text_has_none) {
  EXPECT_FALSE(of("").of_bytes(0, 1));
  EXPECT_FALSE(of("ab").of_bytes(2, 3));
}

} // namespace troupe::models::word_tokens_test
