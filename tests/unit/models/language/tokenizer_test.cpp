#include "models/language/tokenizer.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace troupe::models::tokenizer_test {

namespace {

using ids = std::vector<token_id>;

/// "he" is 256, "hel" 257, " w" 258; <|end|> is 259.
json small_json() {
  auto x = test::byte_level_json({{"h", "e"}, {"he", "l"}, {"\xc4\xa0", "w"}});
  test::add_token(x, "<|end|>", 259, true);
  return x;
}

ids encoded(const tokenizer& by, const std::string& text, special_rule how) {
  ids all;
  EXPECT_TRUE(by.encode(text, how, all));
  return all;
}

std::string decoded(const tokenizer& by, const ids& xs) {
  auto text = by.decode(xs);
  EXPECT_TRUE(text) << text.error().context;
  return std::move(*text);
}

} // namespace

TEST(tokenizer, makes_ids_of_a_text_and_the_text_of_ids) {
  const auto by = test::read_tokenizer(small_json());
  EXPECT_EQ(by->kind(), "bpe");
  EXPECT_EQ(by->size(), 260U);
  const auto xs = test::ids_of(*by, "hello w");
  EXPECT_EQ(xs, (ids{257, 'l', 'o', 258}));
  EXPECT_EQ(decoded(*by, xs), "hello w");
  EXPECT_EQ(by->text_of(258), "\xc4\xa0w");
}

TEST(tokenizer, appends_to_what_is_there) {
  const auto by = test::read_tokenizer(small_json());
  ids xs{7};
  ASSERT_TRUE(by->encode("he", special_rule::as_text, xs));
  EXPECT_EQ(xs, (ids{7, 256}));
}

TEST(tokenizer, takes_special_tokens_in_a_text_for_text) {
  const auto by = test::read_tokenizer(small_json());
  const auto as_text = encoded(*by, "a<|end|>", special_rule::as_text);
  EXPECT_EQ(as_text, (ids{'a', '<', '|', 'e', 'n', 'd', '|', '>'}));
  const auto as_tokens = encoded(*by, "a<|end|>b", special_rule::as_tokens);
  EXPECT_EQ(as_tokens, (ids{'a', 259, 'b'}));
  EXPECT_EQ(decoded(*by, as_tokens), "a<|end|>b");
  EXPECT_FALSE(by->special().end); // Nobody says so.
}

TEST(tokenizer, finds_tokens_that_were_added_and_the_longest_first) {
  auto x = small_json();
  test::add_token(x, "he", 256, false);
  test::add_token(x, "  ", 260, false);
  test::add_token(x, "    ", 261, false);
  const auto by = test::read_tokenizer(x);
  EXPECT_EQ(test::ids_of(*by, "hel     "), (ids{256, 'l', 261, ' '}));
  EXPECT_EQ(decoded(*by, {261, 260}), "      ");
}

TEST(tokenizer, cuts_at_bytes_that_are_no_utf8) {
  const auto by = test::read_tokenizer(small_json());
  EXPECT_EQ(test::ids_of(*by, "he\xffl"), (ids{256, 0xff, 'l'}));
  EXPECT_EQ(test::ids_of(*by, "h\xe2\x82"), (ids{'h', 0xe2, 0x82}));
  EXPECT_EQ(test::ids_of(*by, "\xc3\xa9"), (ids{0xc3, 0xa9}));
}

TEST(tokenizer, has_a_sign_for_what_is_no_utf8_where_letters_are_no_bytes) {
  auto x = json::object();
  auto vocabulary = json::object();
  for (const auto& [text, id] :
       vocabulary_list{{"a", 0}, {"b", 1}, {"ab", 2}, {"\xef\xbf\xbd", 3}})
    vocabulary.add(text, id);
  auto model = test::step_of_kind("BPE");
  auto merges = json::array();
  merges.push_back("a b");
  model.add("vocab", std::move(vocabulary));
  model.add("merges", std::move(merges));
  x.add("model", std::move(model));
  const auto by = test::read_tokenizer(x);
  EXPECT_EQ(test::ids_of(*by, "ab\xff"
                              "a\x80"),
            (ids{2, 3, 0, 3}));
}

// Pieces of a long text are remembered, and change nothing.
TEST(tokenizer, gives_all_bytes_back) {
  const auto by = test::read_tokenizer(small_json());
  random_stream draw{3};
  constexpr std::string_view often = "hello w  \n\t1'se\xc3\xa9\xe2\x82\xac";
  for (const std::size_t size : {1, 2, 30, 1000, 20'000}) {
    std::string text;
    while (text.size() < size)
      text += draw.chance(0.1) ? static_cast<char>(draw.below(256))
                               : often[draw.below(often.size())];
    EXPECT_EQ(decoded(*by, test::ids_of(*by, text)), text);
  }
}

TEST(tokenizer, a_part_that_ends_with_its_lines_has_the_ids_of_its_own) {
  const auto by = test::read_tokenizer(small_json());
  ids whole;
  std::string text;
  for (int i = 0; i < 500; ++i) {
    const std::string line = "hello w" + std::to_string(i) + "\n";
    text += line;
    const auto own = test::ids_of(*by, line);
    whole.insert(whole.end(), own.begin(), own.end());
  }
  EXPECT_EQ(test::ids_of(*by, text), whole);
}

TEST(tokenizer, refuses_a_piece_that_is_too_long_and_leaves_what_was_there) {
  const auto by = test::read_tokenizer(small_json());
  ids xs{7};
  const auto ok =
    by->encode("he he" + std::string(70'000, 'a'), special_rule::as_text, xs);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().code, errc::invalid_data);
  EXPECT_EQ(ok.error().context,
            "at byte 2 of the text is a piece of 70003 bytes, and at most "
            "65536 are one; a text with spaces or ends of lines in it would "
            "do");
  EXPECT_EQ(xs, (ids{7}));
}

TEST(tokenizer, says_where_in_a_text_a_pattern_gives_up) {
  auto x = small_json();
  x["pre_tokenizer"] =
    json::parse(R"({"type": "Split", "behavior": "Isolated", "pattern":)"
                R"( {"Regex": "(a+)+$"}})")
      .value();
  const auto by = test::read_tokenizer(x);
  ids xs;
  const auto ok = by->encode("<|end|>" + std::string(40, 'a') + "b",
                             special_rule::as_tokens, xs);
  ASSERT_FALSE(ok);
  EXPECT_NE(ok.error().context.find("gives up at byte 0 of 41"),
            std::string::npos);
  EXPECT_NE(ok.error().context.find("(in what begins at byte 7 of the text)"),
            std::string::npos);
}

TEST(tokenizer, refuses_what_becomes_too_much) {
  auto x = small_json();
  x["normalizer"] = json::parse(R"({"type": "Sequence", "normalizers": [)"
                                R"({"type": "Replace", "content": "aaaaaaaa",)"
                                R"( "pattern": {"String": "a"}},)"
                                R"( {"type": "Replace", "content": "aaaaaaaa",)"
                                R"( "pattern": {"String": "a"}}]})")
                      .value();
  const auto by = test::read_tokenizer(x);
  EXPECT_EQ(test::ids_of(*by, "a"), ids(64, 'a'));
  ids xs;
  const auto ok =
    by->encode("b" + std::string(100, 'a'), special_rule::as_text, xs);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().context,
            "steps make more than 5280 bytes of it; those of the file as it "
            "was published would do (in what begins at byte 0 of the text)");
}

TEST(tokenizer, says_where_in_a_text_a_model_has_no_token) {
  const auto by = test::read_tokenizer(
    json::parse(R"({"pre_tokenizer": {"type": "WhitespaceSplit"}, "model":)"
                R"( {"type": "Unigram", "vocab": [["a", -1]]}})")
      .value());
  ids xs;
  const auto ok = by->encode("a ab", special_rule::as_text, xs);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().context,
            "at byte 1 of the text: 'b' is no token, and there is none for "
            "what is unknown; a vocabulary with one would do");
}

// A special one hides no shorter one in a text that is taken for text.
TEST(tokenizer, tells_added_tokens_apart_by_whether_they_are_special) {
  auto x = small_json();
  test::add_token(x, "<|e", 260, false);
  const auto by = test::read_tokenizer(x);
  EXPECT_EQ(encoded(*by, "<|end|>", special_rule::as_tokens), (ids{259}));
  EXPECT_EQ(encoded(*by, "<|end|>", special_rule::as_text),
            (ids{260, 'n', 'd', '|', '>'}));
  EXPECT_EQ(encoded(*by, "<|e", special_rule::as_tokens), (ids{260}));
}

TEST(tokenizer, makes_no_more_of_ids_than_is_bearable) {
  auto x = small_json();
  const std::string unknown(100'000, '?');
  x["model"]["vocab"][unknown] = 260;
  x["model"]["unk_token"] = unknown;
  x["model"]["vocab"]["filler"] = 259;
  x["added_tokens"] = json::array();
  const auto by = test::read_tokenizer(x);
  EXPECT_EQ(by->special().unknown, std::optional<token_id>{260});
  const auto text = by->decode(std::vector<token_id>{260, 260});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().context,
            "2 ids stand for more than 67584 bytes; a tokenizer with shorter "
            "tokens would do");
  EXPECT_TRUE(by->decode(std::vector<token_id>(1000, 257)));
}

TEST(tokenizer, refuses_ids_of_another_one) {
  const auto by = test::read_tokenizer(small_json());
  const auto text = by->decode(std::vector<token_id>{1, 260});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().context,
            "id 260 is of no token; ids from 0 to 259 would do: are they of "
            "this tokenizer?");
}

TEST(tokenizer, of_bytes_has_an_id_for_each_and_for_the_end) {
  const auto by = byte_tokenizer();
  EXPECT_EQ(by->kind(), "bytes");
  EXPECT_EQ(by->size(), 257U);
  EXPECT_EQ(by->special().end, std::optional<token_id>{256});
  EXPECT_EQ(test::ids_of(*by, "a\xff"), (ids{'a', 0xff}));
  EXPECT_EQ(encoded(*by, "a<|endoftext|>", special_rule::as_text).size(), 14U);
  EXPECT_EQ(encoded(*by, "a<|endoftext|>", special_rule::as_tokens),
            (ids{'a', 256}));
  EXPECT_EQ(decoded(*by, {'a', 0xff, 256}), "a\xff<|endoftext|>");
  EXPECT_FALSE(by->decode(std::vector<token_id>{257}));
  EXPECT_TRUE(by->before().empty() && by->after().empty());
}

} // namespace troupe::models::tokenizer_test
