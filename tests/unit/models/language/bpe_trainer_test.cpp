#include "models/language/bpe_trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "models/language/merge_learner.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::models::bpe_trainer_test {

namespace {

using texts = std::vector<std::string>;

json trained(const texts& xs, const bpe_training& how) {
  auto x = train_bpe(xs, how);
  EXPECT_TRUE(x) << x.error().context;
  return x ? std::move(*x) : json{};
}

texts merges_of(const json& x) {
  texts all;
  for (const auto& merge : *x.find("model")->find("merges")->items())
    all.push_back(*merge.text());
  return all;
}

std::string refused(const texts& xs, const bpe_training& how) {
  const auto x = train_bpe(xs, how);
  EXPECT_FALSE(x);
  return x ? "" : x.error().context;
}

/// As one would do it by hand: all is counted anew for each merge.
texts merged_slowly(const piece_counts& pieces, std::size_t tokens,
                    std::uint64_t least) {
  std::vector<std::pair<texts, std::uint64_t>> words;
  for (const auto& [piece, count] : pieces) {
    auto& word = words.emplace_back();
    word.second = count;
    for (const char x : piece)
      word.first.emplace_back(1, x);
  }
  texts merges;
  std::set<std::string> made;
  while (256 + made.size() < tokens) {
    std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
    for (const auto& [parts, count] : words)
      for (std::size_t i = 1; i < parts.size(); ++i)
        counts[{parts[i - 1], parts[i]}] += count;
    const auto best = std::ranges::max_element(counts, {}, [](const auto& x) {
      return x.second; // The first of equals, which is the less.
    });
    if (best == counts.end() || best->second < least)
      break;
    const auto [left, right] = best->first;
    const auto merge = left + " " + right;
    if (std::ranges::find(merges, merge) == merges.end())
      merges.push_back(merge);
    made.insert(left + right);
    for (auto& word : words) {
      texts parts;
      for (std::size_t i = 0; i < word.first.size(); ++i) {
        const bool both = i + 1 < word.first.size() && word.first[i] == left
                          && word.first[i + 1] == right;
        parts.push_back(both ? left + right : word.first[i]);
        i += both ? 1 : 0;
      }
      word.first = std::move(parts);
    }
  }
  return merges;
}

texts merged_fast(const piece_counts& pieces, std::size_t tokens,
                  std::uint64_t least) {
  merge_learner x{pieces, {.size = tokens, .least = least}};
  x.learn();
  texts merges;
  for (const auto& merge : x.merges())
    merges.push_back(x.tokens()[merge.first] + " " + x.tokens()[merge.second]);
  return merges;
}

} // namespace

TEST(bpe_trainer, merges_what_stands_beside_each_other_most_often) {
  // Pieces: "aab" 3 times, " aab" twice, " ab" twice.
  const auto x = trained({"aab aab ab", "aab aab", "aab ab"},
                         {.size = 261, .special = {"<end>"}});
  // a,b 7 times; then a,ab 5 times; then the space and what follows.
  EXPECT_EQ(merges_of(x),
            (texts{"a b", "a ab", "\xc4\xa0 aab", "\xc4\xa0 ab"}));
  const auto& ids = *x.find("model")->find("vocab");
  EXPECT_EQ(ids.fields()->size(), 261u);
  EXPECT_EQ(ids.find("!")->count(), 33u); // The bytes are first, in order.
  EXPECT_EQ(ids.find("ab")->count(), 256u);
  EXPECT_EQ(ids
              .find("\xc4\xa0"
                    "ab")
              ->count(),
            259u);
  EXPECT_EQ(ids.find("<end>")->count(), 260u);
  const auto& added = x.find("added_tokens")->items()->at(0);
  EXPECT_EQ(*added.find("content")->text(), "<end>");
  EXPECT_EQ(added.find("id")->count(), 260u);
}

TEST(bpe_trainer, takes_of_equals_the_pair_that_is_less_as_bytes) {
  const auto x =
    trained({"zy", "zy", "ba", "ba", "bb", "bb"}, {.size = 259, .special = {}});
  EXPECT_EQ(merges_of(x), (texts{"b a", "b b", "z y"}));
}

TEST(bpe_trainer, makes_the_same_whatever_the_order_of_texts) {
  texts xs{"the cat sat on the mat", "a hat, that", "he sat; she sat",
           "12 hats 123 mats"};
  const auto once = trained(xs, {.size = 300}).dump();
  std::ranges::reverse(xs);
  EXPECT_EQ(trained(xs, {.size = 300}).dump(), once);
}

TEST(bpe_trainer, leaves_alone_what_is_seen_too_seldom) {
  const auto x = trained({"ab ab ab xy xy"}, {.size = 4096, .least = 3});
  EXPECT_EQ(merges_of(x), (texts{"a b"}));
  EXPECT_TRUE(merges_of(trained({"x"}, {})).empty());
}

TEST(bpe_trainer, learns_as_one_would_by_hand) {
  random_stream draw{11};
  for (int run = 0; run < 30; ++run) {
    piece_counts pieces;
    for (int i = 0; i < 12; ++i) {
      std::string piece;
      for (auto n = draw.below(8); n > 0; --n)
        piece += static_cast<char>('a' + static_cast<int>(draw.below(3)));
      pieces[piece] += 1 + draw.below(4);
    }
    EXPECT_EQ(merged_fast(pieces, 256 + 20, 2),
              merged_slowly(pieces, 256 + 20, 2))
      << run;
  }
}

TEST(bpe_trainer, merges_across_nothing_that_is_no_letter) {
  const auto x = trained({"a\xff"
                          "a\xff"
                          "a\xff"},
                         {.size = 300, .special = {}});
  EXPECT_TRUE(merges_of(x).empty());
}

// A text may have in it what a special token is.
TEST(bpe_trainer, makes_no_token_that_is_a_special_one) {
  const auto x =
    trained({"end end end end"}, {.size = 300, .special = {"end"}});
  const auto& ids = *x.find("model")->find("vocab")->fields();
  EXPECT_EQ(
    std::ranges::count_if(ids, [](const auto& y) { return y.first == "end"; }),
    1);
  EXPECT_EQ(ids.back().first, "end");
}

TEST(bpe_trainer, makes_what_is_read_again) {
  const texts xs{"the cat sat on the mat, the cat sat"};
  const auto x = parse_tokenizer(trained(xs, {.size = 270}), "t.json");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ((*x)->kind(), "bpe");
  // at, he, the, and with a space before them c, s, the, cat and sat.
  EXPECT_EQ((*x)->size(), 265u);
  std::vector<token_id> ids;
  ASSERT_TRUE((*x)->encode(xs[0], special_rule::as_text, ids));
  EXPECT_LT(ids.size(), xs[0].size());
  EXPECT_EQ(*(*x)->decode(ids), xs[0]);
}

TEST(bpe_trainer, refuses_what_cannot_be) {
  EXPECT_EQ(
    refused({"a"}, {.size = 256}),
    "a vocabulary of 256 tokens cannot be: 256 are bytes and 1 special; "
    "257 to 1048576 would do");
  EXPECT_EQ(refused({"a"}, {.special = {"x1", "x1"}}),
            "a special token is empty or there twice; others would do");
  EXPECT_EQ(refused({"a"}, {.special = {"a"}}),
            "the special token 'a' is that of a byte; a longer one would do");
  EXPECT_EQ(
    refused({"a"}, {.special = {"\xff"}}),
    "the special token '\\xff' is no UTF-8; a text of letters would do");
  EXPECT_EQ(refused({"a", std::string(70'000, 'b')}, {}),
            "text 2: a piece has 70000 bytes; words of at most 65536 would do");
}

} // namespace troupe::models::bpe_trainer_test
