// What scorers say of texts: as the reference scorers do, whose answers
// tests/interop/language/scorers.py stores, and of a few texts by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "models/language/scores/bleu.hpp"
#include "models/language/scores/cider.hpp"
#include "models/language/scores/edit_path.hpp"
#include "models/language/scores/meteor.hpp"
#include "models/language/scores/nist.hpp"
#include "models/language/scores/rouge.hpp"
#include "models/language/scores/spans.hpp"
#include "models/language/scores/ter.hpp"
#include "models/language/scores/text_scores.hpp"
#include "models/language/scores/word_stem.hpp"
#include "models/language/scores/words.hpp"
#include "models/language/unicode.hpp"
#include "tests/support/reference_values.hpp"

namespace troupe::models::scores_test {

namespace {

using pairs = std::vector<said_and_meant>;

/// Of what the reference says.
const json::list& golden_list(std::string_view key) {
  static const auto all = test::reference_values("scorers.json");
  return test::list_in(all, key);
}

std::string text_of(const json& x) {
  return x.text() != nullptr ? *x.text() : std::string{};
}

std::vector<std::string> texts_of(const json& x) {
  std::vector<std::string> all;
  for (const auto& one : *x.items())
    all.push_back(text_of(one));
  return all;
}

pairs pairs_of(const json& x) {
  pairs all;
  for (const auto& one : *x.items())
    all.push_back({.said = text_of(*one.find("said")),
                   .meant = texts_of(*one.find("meant"))});
  return all;
}

std::string as_text(const std::u32string& letters) {
  std::string text;
  for (const auto x : letters)
    append_utf8(x, text);
  return text;
}

/// Each scorer, by its name in the file.
std::vector<std::pair<std::string,
                      std::function<double(std::span<const said_and_meant>)>>>
scorers() {
  return {{"bleu", corpus_bleu},     {"nist", corpus_nist},
          {"rouge_l", mean_rouge_l}, {"ter", corpus_ter},
          {"cider", corpus_cider},   {"meteor", mean_meteor}};
}

} // namespace

TEST(scorers, say_what_the_reference_scorers_say) {
  ASSERT_FALSE(golden_list("cases").empty());
  for (const auto& x : golden_list("cases")) {
    const auto of = pairs_of(*x.find("pairs"));
    for (const auto& scorer : scorers()) {
      const auto expected = x.find(scorer.first)->number();
      if (!expected)
        continue; // The reference divides by zero.
      EXPECT_NEAR(scorer.second(of), *expected,
                  1e-9 * std::max(1.0, std::abs(*expected)))
        << scorer.first << " of '" << text_of(*x.find("name")) << "'";
    }
  }
}

TEST(scorers, cut_words_as_the_reference_does) {
  ASSERT_FALSE(golden_list("words").empty());
  for (const auto& x : golden_list("words"))
    EXPECT_EQ(words_of_13a(text_of(*x.find("text"))),
              texts_of(*x.find("words")));
}

TEST(scorers, know_stems_as_the_reference_does) {
  ASSERT_FALSE(golden_list("stems").empty());
  for (const auto& x : golden_list("stems")) {
    const auto word = texts_of(x);
    EXPECT_EQ(as_text(word_stem(word.at(0))), word.at(1)) << word.at(0);
  }
}

TEST(scorers, give_all_for_what_was_meant) {
  const pairs same{{.said = "a b c d e", .meant = {"x y", "a b c d e"}},
                   {.said = "f g h i j", .meant = {"f g h i j"}}};
  const auto x = score_texts(same);
  EXPECT_NEAR(x.bleu, 100, 1e-9);
  EXPECT_DOUBLE_EQ(x.rouge_l, 1);
  EXPECT_DOUBLE_EQ(x.ter, 0);
  EXPECT_DOUBLE_EQ(x.exact, 100);
  EXPECT_DOUBLE_EQ(x.f1, 100);
  // In one piece of five words: 1 - 0.5 / 5^3.
  EXPECT_NEAR(x.meteor, 0.996, 1e-12);
  // One of two meanings is another text: (10 / 2 + 10) / 2.
  EXPECT_NEAR(x.cider, 7.5, 1e-12);
}

TEST(scorers, take_texts_in_any_order) {
  const pairs forth{{.said = "the cat sat", .meant = {"a cat sat down"}},
                    {.said = "it ran home", .meant = {"it ran", "home it ran"}},
                    {.said = "", .meant = {"nothing"}}};
  const pairs back{forth[2], forth[0], forth[1]};
  for (const auto& scorer : scorers())
    EXPECT_NEAR(scorer.second(forth), scorer.second(back), 1e-12)
      << scorer.first;
}

TEST(scorers, find_nothing_in_nothing) {
  for (const auto& scorer : scorers()) {
    EXPECT_EQ(scorer.second(pairs{}), 0) << scorer.first;
    EXPECT_EQ(scorer.second(pairs{{.said = "", .meant = {""}}}), 0)
      << scorer.first;
  }
}

TEST(bleu, takes_the_shorter_of_two_as_near) {
  // Right are 4 of 5 words, 3 of 4 pairs, 2 of 3 and 1 of 2 longer runs; beside
  // six words it would be too short.
  const pairs x{{.said = "a b c d e", .meant = {"a b c d x y", "a b c d"}}};
  const auto expected = 100 * std::pow(4.0 / 5 * 3 / 4 * 2 / 3 * 1 / 2, 0.25);
  EXPECT_NEAR(corpus_bleu(x), expected, 1e-9);
}

TEST(ter, counts_a_move_as_one_edit) {
  // Without moves it is two: one left out, one put in.
  EXPECT_DOUBLE_EQ(corpus_ter(pairs{{.said = "b c d a", .meant = {"a b c d"}}}),
                   25);
  EXPECT_DOUBLE_EQ(corpus_ter(pairs{{.said = "a x c d", .meant = {"a b c d"}}}),
                   25);
}

TEST(ter, is_by_the_nearest_over_the_mean_length) {
  EXPECT_DOUBLE_EQ(
    corpus_ter(pairs{{.said = "a b", .meant = {"a c", "a b c d"}}}), 100.0 / 3);
}

TEST(edit_path, says_what_stands_where) {
  const auto x = edit_path_of({"a", "x", "c"}, {"a", "b", "c", "d"});
  EXPECT_EQ(x.edits, 2u);
  EXPECT_EQ(x.is_wrong_said, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(x.is_wrong_meant, (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(x.reached, (std::vector<std::size_t>{1, 2, 3, 3}));
  EXPECT_EQ(edit_path_of({}, {"a", "b"}).edits, 2u);
}

TEST(meteor, matches_stems_after_words) {
  // "runs" is there as it is; "running" matches by its stem.
  const pairs x{{.said = "runs running", .meant = {"run runs"}}};
  // Both match, in two pieces: (1 - 0.5) * 1.
  EXPECT_DOUBLE_EQ(mean_meteor(x), 0.5);
  EXPECT_EQ(mean_meteor(pairs{{.said = "dogs", .meant = {"hounds"}}}), 0);
}

TEST(rouge, is_of_a_common_subsequence) {
  // "a c" of three and of two.
  EXPECT_DOUBLE_EQ(mean_rouge_l(pairs{{.said = "A, b c!", .meant = {"a c"}}}),
                   0.8);
}

TEST(cider, needs_more_than_one_text) {
  EXPECT_EQ(corpus_cider(pairs{{.said = "a b", .meant = {"a b"}}}), 0);
}

TEST(answers, are_judged_without_articles_and_punctuation) {
  EXPECT_TRUE(are_equal_answers("The  Mill.", "mill"));
  EXPECT_TRUE(are_equal_answers("\u201cthe\u201d mill", "\u201ca\u201d mill"));
  EXPECT_FALSE(are_equal_answers("theatre", "atre"));
  EXPECT_TRUE(are_equal_answers("a", ""));
  EXPECT_FALSE(are_equal_answers("", "x"));
}

TEST(answers, share_words_however_they_stand) {
  EXPECT_DOUBLE_EQ(f1_of_answers("red old mill", "the mill, red"), 0.8);
  // As often as it is there.
  EXPECT_DOUBLE_EQ(f1_of_answers("b b b", "b"), 0.5);
  EXPECT_EQ(f1_of_answers("the", "an"), 1);
  EXPECT_EQ(f1_of_answers("the", "mill"), 0);
  EXPECT_EQ(f1_of_answers("x", "y"), 0);
}

TEST(answers, count_by_the_best_that_was_meant) {
  const pairs x{{.said = "mill", .meant = {"river", "The Mill"}},
                {.said = "old mill", .meant = {"mill"}}};
  EXPECT_DOUBLE_EQ(exact_matches(x), 50);
  EXPECT_DOUBLE_EQ(mean_f1(x), 50 * (1 + 2.0 / 3));
}

TEST(words, are_cut_at_spaces_of_all_kinds) {
  EXPECT_EQ(words_between_spaces(" a\u00a0b\u3000c\td\n"),
            (word_list{"a", "b", "c", "d"}));
  EXPECT_TRUE(words_between_spaces(" \n").empty());
  // A byte that is no UTF-8 is part of a word.
  EXPECT_EQ(words_between_spaces("\xff\xa0 x"), (word_list{"\xff\xa0", "x"}));
}

TEST(words, are_counted_in_runs) {
  EXPECT_EQ(runs_of({"a", "b", "a", "b"}, 2),
            (run_counts{{"a b", 2}, {"b a", 1}}));
  EXPECT_TRUE(runs_of({"a"}, 2).empty());
}

} // namespace troupe::models::scores_test
