#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "models/language/piece_model.hpp"

namespace troupe::models::bpe_test {

namespace {

using ids = std::vector<token_id>;

std::unique_ptr<piece_model> made(vocabulary_list vocabulary, merge_list merges,
                                  bpe_rules how = {}) {
  auto x = make_bpe(std::move(vocabulary), std::move(merges), std::move(how),
                    "some.json");
  EXPECT_TRUE(x) << x.error().context;
  return std::move(*x);
}

ids encoded(const piece_model& by, std::string_view piece) {
  ids all;
  EXPECT_TRUE(by.encode(piece, all));
  return all;
}

std::string refusal(vocabulary_list vocabulary, merge_list merges,
                    bpe_rules how = {}) {
  const auto x = make_bpe(std::move(vocabulary), std::move(merges),
                          std::move(how), "some.json");
  if (x)
    return "read";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

/// As it is written: again and again the merge that was learnt first, at its
/// first place.
std::vector<std::string> by_the_book(const std::string& piece,
                                     const merge_list& merges) {
  std::vector<std::string> xs;
  for (const auto c : piece)
    xs.emplace_back(1, c);
  for (bool found = true; found;) {
    found = false;
    for (std::size_t m = 0; m < merges.size() && !found; ++m)
      for (std::size_t i = 0; i + 1 < xs.size() && !found; ++i)
        if (xs[i] == merges[m].first && xs[i + 1] == merges[m].second) {
          xs[i] += xs[i + 1];
          xs.erase(xs.begin() + static_cast<std::ptrdiff_t>(i) + 1);
          found = true;
        }
  }
  return xs;
}

const vocabulary_list abc{{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"bc", 4}};

} // namespace

TEST(bpe, merges_first_what_was_learnt_first) {
  EXPECT_EQ(encoded(*made(abc, {{"a", "b"}, {"b", "c"}}), "abc"), (ids{3, 2}));
  EXPECT_EQ(encoded(*made(abc, {{"b", "c"}, {"a", "b"}}), "abc"), (ids{0, 4}));
}

TEST(bpe, merges_the_leftmost_first) {
  const auto by = made({{"a", 0}, {"aa", 1}}, {{"a", "a"}});
  EXPECT_EQ(encoded(*by, "aaa"), (ids{1, 0}));
  EXPECT_EQ(encoded(*by, std::string(41, 'a')).back(), 0U);
}

// A long token that was learnt late waits for a short one that came early.
TEST(bpe, does_not_look_at_the_length) {
  const auto by =
    made({{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"abc", 4}, {"ca", 5}},
         {{"c", "a"}, {"a", "b"}, {"ab", "c"}});
  EXPECT_EQ(encoded(*by, "abca"), (ids{3, 5}));
}

TEST(bpe, merges_long_pieces_as_short_ones) {
  random_stream draw{7};
  for (int round = 0; round < 200; ++round) {
    vocabulary_list vocabulary{{"a", 0}, {"b", 1}, {"c", 2}};
    merge_list merges;
    for (int i = 0; i < 12; ++i) {
      const auto& left = vocabulary[draw.below(vocabulary.size())].first;
      const auto& right = vocabulary[draw.below(vocabulary.size())].first;
      const auto both = left + right;
      if (std::any_of(vocabulary.begin(), vocabulary.end(),
                      [&](const auto& x) { return x.first == both; }))
        continue;
      merges.emplace_back(left, right);
      vocabulary.emplace_back(both, static_cast<token_id>(vocabulary.size()));
    }
    const auto by = made(vocabulary, merges);
    for (const std::size_t size : {1, 5, 15, 16, 17, 18, 40, 150}) {
      std::string piece;
      for (std::size_t i = 0; i < size; ++i)
        piece += static_cast<char>('a' + draw.below(3));
      std::vector<std::string> texts;
      for (const auto id : encoded(*by, piece))
        texts.emplace_back(by->text_of(id));
      EXPECT_EQ(texts, by_the_book(piece, merges)) << piece;
    }
  }
}

// As a table that is filled line by line has it.
TEST(bpe, takes_a_merge_that_is_there_twice_for_the_later_one) {
  EXPECT_EQ(encoded(*made(abc, {{"a", "b"}, {"b", "c"}, {"a", "b"}}), "abc"),
            (ids{0, 4}));
}

// Also where a token begins none, or ends none.
TEST(bpe, finds_each_merge_and_no_other) {
  constexpr token_id count = 40;
  vocabulary_list vocabulary;
  const auto letter = [](token_id i) {
    return std::string(1, static_cast<char>('0' + i));
  };
  for (token_id i = 0; i < count; ++i)
    vocabulary.emplace_back(letter(i), count - 1 - i);
  merge_list merges;
  for (token_id i = 0; i < count; i += 3)
    for (token_id j = 0; j < count; j += 2) {
      merges.emplace_back(letter(i), letter(j));
      vocabulary.emplace_back(letter(i) + letter(j),
                              static_cast<token_id>(vocabulary.size()));
    }
  const auto by = made(vocabulary, merges);
  for (token_id i = 0; i < count; ++i)
    for (token_id j = 0; j < count; ++j)
      EXPECT_EQ(encoded(*by, letter(i) + letter(j)).size(),
                i % 3 == 0 && j % 2 == 0 ? 1U : 2U)
        << i << ' ' << j;
}

TEST(bpe, leaves_out_letters_that_it_does_not_know) {
  EXPECT_EQ(encoded(*made(abc, {{"a", "b"}}), "axb\xc3\xa9"), (ids{3}));
}

TEST(bpe, has_a_token_for_what_it_does_not_know) {
  auto with_unknown = abc;
  with_unknown.emplace_back("?", 5);
  const auto by = made(with_unknown, {{"a", "b"}}, {.unknown = "?"});
  EXPECT_EQ(by->unknown(), std::optional<token_id>{5});
  EXPECT_EQ(encoded(*by, "axyb"), (ids{0, 5, 5, 1}));
  const auto fused =
    made(with_unknown, {{"a", "b"}}, {.fuse_unknown = true, .unknown = "?"});
  EXPECT_EQ(encoded(*fused, "axybz"), (ids{0, 5, 1, 5}));
}

TEST(bpe, falls_back_to_bytes_where_all_of_a_letter_have_names) {
  auto with_bytes = abc;
  with_bytes.emplace_back("<0xC3>", 5);
  with_bytes.emplace_back("<0xA9>", 6);
  with_bytes.emplace_back("?", 7);
  const auto by =
    made(with_bytes, {{"a", "b"}}, {.byte_fallback = true, .unknown = "?"});
  EXPECT_EQ(encoded(*by, "a\xc3\xa9\xc3\xa8"), (ids{0, 5, 6, 7}));
}

TEST(bpe, takes_a_piece_that_is_a_token_where_merges_are_ignored) {
  auto more = abc;
  more.emplace_back("abc", 5);
  EXPECT_EQ(encoded(*made(more, {{"a", "b"}}), "abc"), (ids{3, 2}));
  EXPECT_EQ(encoded(*made(more, {{"a", "b"}}, {.ignore_merges = true}), "abc"),
            (ids{5}));
}

TEST(bpe, finds_tokens) {
  const auto by = made(abc, {{"a", "b"}});
  EXPECT_EQ(by->size(), 5U);
  EXPECT_EQ(by->find("bc"), std::optional<token_id>{4});
  EXPECT_FALSE(by->find("abc"));
  EXPECT_FALSE(by->find(""));
}

TEST(bpe, says_what_does_not_go_together) {
  EXPECT_EQ(refusal(abc, {}),
            "some.json: it has a vocabulary of 5 tokens and no merges; the "
            "merges of the same tokenizer would do");
  EXPECT_EQ(refusal(abc, {{"a", "b"}, {"b", "x"}}),
            "some.json: merge 2 of 2 is of 'b' and 'x', and its vocabulary "
            "lacks 'x'; the merges of the same tokenizer would do");
  EXPECT_EQ(refusal(abc, {{"c", "a"}}),
            "some.json: merge 1 of 1 is of 'c' and 'a', and its vocabulary "
            "lacks 'ca'; the merges of the same tokenizer would do");
  EXPECT_EQ(refusal({{"a", 0}, {"b", 0}}, {{"a", "b"}}),
            "some.json: its vocabulary has id 0 twice, for 'a' and 'b'; an id "
            "for each would do");
  EXPECT_EQ(refusal({{"a", 0}, {"b", 2}}, {{"a", "b"}}),
            "some.json: its vocabulary has 2 tokens, and 'b' has id 2; ids "
            "from 0 without holes would do");
  EXPECT_EQ(refusal({{"a", 0}, {"a", 1}}, {{"a", "a"}}),
            "some.json: its vocabulary has 'a' twice, as 0 and 1; once would "
            "do");
  EXPECT_EQ(refusal({{"a", 0}, {std::string(std::size_t{1} << 24, 'b'), 1}},
                    {{"a", "a"}}),
            "some.json: the vocabulary has tokens of 16777217 bytes; at most "
            "16777216 of all would do");
  EXPECT_EQ(refusal(abc, {{"a", "b"}}, {.unknown = "<unk>"}),
            "some.json: its unknown token '<unk>' is not in its vocabulary");
}

} // namespace troupe::models::bpe_test
