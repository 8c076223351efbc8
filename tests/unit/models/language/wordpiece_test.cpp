#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/language/piece_model.hpp"

namespace troupe::models::wordpiece_test {

namespace {

using ids = std::vector<token_id>;

vocabulary_list numbered(const std::vector<std::string>& texts) {
  vocabulary_list all;
  for (const auto& x : texts)
    all.emplace_back(x, static_cast<token_id>(all.size()));
  return all;
}

ids encoded(const piece_model& by, std::string_view piece) {
  ids all{99}; // What was there before stays.
  EXPECT_TRUE(by.encode(piece, all));
  EXPECT_EQ(all.at(0), 99u);
  all.erase(all.begin());
  return all;
}

std::unique_ptr<piece_model> made(const std::vector<std::string>& texts,
                                  wordpiece_rules how = {}) {
  auto x = make_wordpiece(numbered(texts), how, "vocab.txt");
  EXPECT_TRUE(x) << x.error().context;
  return x ? std::move(*x) : nullptr;
}

std::string refused(vocabulary_list all) {
  const auto x = make_wordpiece(std::move(all), {}, "vocab.txt");
  EXPECT_FALSE(x);
  if (x)
    return {};
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

} // namespace

TEST(wordpiece, takes_the_longest_that_the_rest_begins_with) {
  const auto x = made({"[UNK]", "un", "u", "##aff", "##able", "##a", "unaff",
                       "##ab", "##l", "##e"});
  EXPECT_EQ(encoded(*x, "unaffable"), (ids{6, 4}));
  EXPECT_EQ(encoded(*x, "unable"), (ids{1, 4}));
  EXPECT_EQ(encoded(*x, "uable"), (ids{2, 4}));
  EXPECT_EQ(encoded(*x, ""), ids{});
  EXPECT_EQ(x->kind(), "wordpiece");
  EXPECT_EQ(x->size(), 10u);
  EXPECT_EQ(x->text_of(3), "##aff");
  EXPECT_EQ(x->find("##able"), 4u);
  EXPECT_FALSE(x->find("able"));
  EXPECT_EQ(x->unknown(), 0u);
}

// It does not look back: [UNK] although "ab" and "##c" would do.
TEST(wordpiece, says_of_all_of_a_word_that_it_is_unknown) {
  const auto x = made({"ab", "abc", "##cd", "##c", "[UNK]"});
  EXPECT_EQ(encoded(*x, "abcd"), ids{4});
  EXPECT_EQ(encoded(*x, "abcx"), ids{4});
  // What goes on does not begin a word.
  EXPECT_EQ(encoded(*x, "cd"), ids{4});
}

TEST(wordpiece, counts_letters_and_not_bytes) {
  const auto x = made({"[UNK]", "\xc3\xa9", "##\xc3\xa9"}, {.letters_max = 3});
  EXPECT_EQ(encoded(*x, "\xc3\xa9\xc3\xa9\xc3\xa9"), (ids{1, 2, 2}));
  EXPECT_EQ(encoded(*x, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"), ids{0});
}

TEST(wordpiece, may_have_another_word_for_what_goes_on) {
  const auto plain = made({"?", "a", "b"}, {.unknown = "?", .continuing = ""});
  EXPECT_EQ(encoded(*plain, "aba"), (ids{1, 2, 1}));
  const auto none = made({"[UNK]", "a", "b"}); // Nothing goes on.
  EXPECT_EQ(encoded(*none, "a"), ids{1});
  EXPECT_EQ(encoded(*none, "ab"), ids{0});
}

TEST(wordpiece, refuses_a_vocabulary_that_is_none) {
  EXPECT_EQ(refused({}),
            "vocab.txt: the vocabulary is empty; one with tokens would do");
  EXPECT_EQ(refused({{"[UNK]", 0}, {"a", 2}}),
            "vocab.txt: 'a' has id 2, and there are 2 tokens; ids without "
            "holes would do");
  EXPECT_EQ(refused({{"[UNK]", 0}, {"a", 0}}),
            "vocab.txt: '[UNK]' and 'a' have the same id 0; ids of their own "
            "would do");
  EXPECT_EQ(refused({{"[UNK]", 0}, {"a", 1}, {"a", 2}}),
            "vocab.txt: 'a' has the ids 1 and 2; one would do");
  EXPECT_EQ(refused(numbered({"a", "b"})),
            "vocab.txt: the vocabulary has no '[UNK]', which stands for a word "
            "that it cannot say; one with it would do");
  EXPECT_EQ(refused(numbered({"[UNK]", "\xff"})),
            "vocab.txt: token 1, '\\xff', is no UTF-8; a vocabulary of letters "
            "would do");
  EXPECT_EQ(refused(numbered({"[UNK]", std::string(1025, 'a')})),
            "vocab.txt: token 1 has 1025 bytes; at most 1024 would do");
}

} // namespace troupe::models::wordpiece_test
