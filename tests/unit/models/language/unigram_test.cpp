#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "models/language/piece_model.hpp"

namespace troupe::models::unigram_test {

namespace {

using ids = std::vector<token_id>;
using scored_list = std::vector<std::pair<std::string, double>>;

ids encoded(const piece_model& by, std::string_view piece) {
  ids all;
  EXPECT_TRUE(by.encode(piece, all));
  return all;
}

std::unique_ptr<piece_model> made(scored_list all,
                                  std::optional<token_id> unknown = 0,
                                  bool byte_fallback = false) {
  auto x = make_unigram(std::move(all), unknown, byte_fallback, "t.json");
  EXPECT_TRUE(x) << x.error().context;
  return x ? std::move(*x) : nullptr;
}

std::string refused(scored_list all, std::optional<token_id> unknown = {}) {
  const auto x = make_unigram(std::move(all), unknown, false, "t.json");
  EXPECT_FALSE(x);
  return x ? "" : x.error().context;
}

/// The best sum of scores by trying every way.
double best_by_trying(const scored_list& all, std::string_view text) {
  if (text.empty())
    return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (const auto& [token, score] : all)
    if (!token.empty() && text.starts_with(token))
      best =
        std::max(best, score + best_by_trying(all, text.substr(token.size())));
  return best;
}

} // namespace

TEST(unigram, takes_the_way_whose_scores_add_up_to_most) {
  const auto x = made(
    {{"<unk>", 0}, {"a", -1}, {"b", -1}, {"c", -1}, {"ab", -3}, {"bc", -1.5}});
  EXPECT_EQ(encoded(*x, "ab"), (ids{1, 2})); // -2, and "ab" is -3.
  EXPECT_EQ(encoded(*x, "abc"), (ids{1, 5}));
  EXPECT_EQ(encoded(*x, ""), ids{});
  EXPECT_EQ(x->kind(), "unigram");
  EXPECT_EQ(x->size(), 6u);
  EXPECT_EQ(x->text_of(5), "bc");
  EXPECT_EQ(x->find("bc"), 5u);
  EXPECT_EQ(x->unknown(), 0u);
}

TEST(unigram, takes_of_equals_the_longer_last_token) {
  const auto x = made({{"<unk>", 0}, {"a", -1}, {"b", -1}, {"ab", -2}});
  EXPECT_EQ(encoded(*x, "ab"), ids{3});
  const auto y =
    made({{"<unk>", 0}, {"a", -1}, {"bc", -2}, {"ab", -2}, {"c", -1}});
  EXPECT_EQ(encoded(*y, "abc"), (ids{1, 2}));
}

TEST(unigram, finds_what_trying_every_way_finds) {
  const scored_list all{{"a", -2},    {"b", -2.5}, {"ab", -3.25}, {"ba", -4},
                        {"aa", -3.5}, {"bab", -5}, {"aba", -5.5}};
  const auto x = made(all, std::nullopt);
  random_stream draw{7};
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int k = 0; k < 9; ++k)
      text += draw() % 2 == 0 ? 'a' : 'b';
    double sum = 0;
    std::string back;
    for (const auto id : encoded(*x, text)) {
      sum += all[id].second;
      back += all[id].first;
    }
    EXPECT_EQ(back, text);
    EXPECT_NEAR(sum, best_by_trying(all, text), 1e-9) << text;
  }
}

TEST(unigram, joins_unknown_letters_that_stand_beside_each_other) {
  const auto x = made({{"<unk>", 0}, {"a", -1}, {"b", -1}});
  EXPECT_EQ(encoded(*x, "axyb"), (ids{1, 0, 2}));
  EXPECT_EQ(encoded(*x, "xay"), (ids{0, 1, 0}));
  // Letters, and what is none, a byte at a time.
  EXPECT_EQ(encoded(*x, "\xc3\xa9"), ids{0});
  EXPECT_EQ(encoded(*x, "a\xff\xc3"), (ids{1, 0}));
  EXPECT_EQ(encoded(*x, "<unk>"), ids{0});
}

TEST(unigram, says_unknown_letters_byte_by_byte_where_it_has_the_bytes) {
  const auto x =
    made({{"<unk>", 0}, {"a", -1}, {"<0xC3>", -5}, {"<0xA9>", -5}}, 0, true);
  EXPECT_EQ(encoded(*x, "a\xc3\xa9"), (ids{1, 2, 3}));
  EXPECT_EQ(encoded(*x, "\xc3\xaa"), ids{0}); // It lacks one of both.
}

TEST(unigram, lets_the_last_of_equal_tokens_count) {
  const auto x = made({{"<unk>", 0}, {"a", -1}, {"a", -2}});
  EXPECT_EQ(encoded(*x, "a"), ids{2});
}

TEST(unigram, says_what_it_cannot_split) {
  const auto x = made({{"a", -1}}, std::nullopt);
  ids all;
  const auto unknown = x->encode("ab", all);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().context,
            "'b' is no token, and there is none for what is unknown; a "
            "vocabulary with one would do");
  const auto too_long = x->encode(std::string(65'537, 'a'), all);
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().context,
            "a piece has 65537 bytes; spaces that part it into at most 65536 "
            "would do");
}

TEST(unigram, refuses_tokens_that_take_too_much) {
  EXPECT_EQ(refused({{std::string(1025, 'a'), -1}}),
            "t.json: token 0 has 1025 bytes; at most 1024 would do");
  const scored_list all(16'385, {std::string(1024, 'a'), -1});
  EXPECT_EQ(refused(all), "t.json: the vocabulary has tokens of 16778240 "
                          "bytes; at most 16777216 of all would do");
}

TEST(unigram, refuses_a_vocabulary_that_is_none) {
  EXPECT_EQ(refused({}),
            "t.json: the vocabulary is empty; one with tokens would do");
  EXPECT_EQ(refused({{"a", -1}}, 1),
            "t.json: unk_id is 1, and there are 1 tokens; the id of one of "
            "them would do");
  EXPECT_EQ(refused({{"a", -std::numeric_limits<double>::infinity()}}),
            "t.json: token 0, 'a', has a score that is not finite; the "
            "logarithm of how probable it is would do");
  EXPECT_EQ(refused({{"\xff", -1}}),
            "t.json: token 0, '\\xff', is no UTF-8; a vocabulary of letters "
            "would do");
}

} // namespace troupe::models::unigram_test
