#include "models/language/pipeline_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::models::pipeline_test {

namespace {

using pieces = std::vector<std::string>;

json parsed(const std::string& text) {
  auto x = json::parse(text);
  EXPECT_TRUE(x) << x.error().context;
  return std::move(*x);
}

token_pipeline pipeline(const std::string& text) {
  auto x = pipeline_of(parsed(text), "some.json");
  EXPECT_TRUE(x) << x.error().context;
  return std::move(*x);
}

pieces cut(const token_pipeline& by, std::string text) {
  for (const auto& step : by.normalise)
    text = step(std::move(text)).value();
  pieces xs{std::move(text)};
  for (const auto& step : by.split)
    xs = step(std::move(xs)).value();
  return xs;
}

pieces cut_by_splits(const std::string& split, std::string text) {
  return cut(pipeline(R"({"pre_tokenizer": )" + split + "}"), std::move(text));
}

pieces cut_by_rule(const std::string& rule, const std::string& text) {
  return cut_by_splits(R"({"type": "Split", "pattern": {"String": "-"},)"
                       R"( "behavior": ")"
                         + rule + R"("})",
                       text);
}

std::string normal(const std::string& normaliser, std::string text) {
  auto x = pipeline(R"({"normalizer": )" + normaliser + "}");
  for (const auto& step : x.normalise)
    text = step(std::move(text)).value();
  return text;
}

std::string joined(const std::string& decoder, pieces tokens) {
  auto text =
    pipeline(R"({"decoder": )" + decoder + "}").join(std::move(tokens));
  EXPECT_TRUE(text) << text.error().context;
  return std::move(*text);
}

std::string refusal(const std::string& text) {
  const auto x = pipeline_of(parsed(text), "some.json");
  if (x)
    return "read";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

constexpr const char* byte_level =
  R"({"type": "ByteLevel", "add_prefix_space": false})";

} // namespace

TEST(pipeline, each_byte_has_a_letter_of_its_own) {
  EXPECT_EQ(byte_letters('!'), "!");
  EXPECT_EQ(byte_letters(' '), "\xc4\xa0");  // U+0120
  EXPECT_EQ(byte_letters('\n'), "\xc4\x8a"); // U+010A
  EXPECT_EQ(byte_letters(0), "\xc4\x80");    // U+0100
  EXPECT_EQ(byte_letters(0x7f), "\xc4\xa1"); // U+0121
  EXPECT_EQ(byte_letters(0xad), "\xc5\x83"); // U+0143, the last one.
  EXPECT_EQ(byte_letters(0xe9), "\xc3\xa9");
  std::vector<std::string_view> all;
  for (unsigned byte = 0; byte < 256; ++byte)
    all.push_back(byte_letters(static_cast<std::uint8_t>(byte)));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST(pipeline, cuts_as_the_first_of_byte_level_models) {
  EXPECT_EQ(cut_by_splits(byte_level, "Hello  world's 12a\n\n x"),
            (pieces{"Hello", "\xc4\xa0", "\xc4\xa0world", "'s",
                    "\xc4\xa0"
                    "12",
                    "a", "\xc4\x8a\xc4\x8a", "\xc4\xa0x"}));
  EXPECT_EQ(cut_by_splits(byte_level, "\xc3\xa9"),
            (pieces{"\xc3\x83\xc2\xa9"}));
}

TEST(pipeline, cuts_as_byte_level_is_told) {
  EXPECT_EQ(cut_by_splits(R"({"type": "ByteLevel"})", "a b"), (pieces{"\xc4\xa0"
                                                                      "a",
                                                                      "\xc4\xa0"
                                                                      "b"}));
  EXPECT_EQ(cut_by_splits(R"({"type": "ByteLevel", "use_regex": false,)"
                          R"( "add_prefix_space": false})",
                          "a b"),
            (pieces{"a\xc4\xa0"
                    "b"}));
}

TEST(pipeline, cuts_as_files_of_gguf_name_it) {
  const auto cut_as = [](std::string_view pre, const std::string& text) {
    pieces xs{text};
    const auto patterns = patterns_of(pre);
    for (const auto& pattern : *patterns) {
      const auto step =
        cut_by(pattern, {.rule = cut_rule::isolated}, "some.gguf");
      EXPECT_TRUE(step) << step.error().context;
      xs = (*step)(std::move(xs)).value();
    }
    return xs;
  };
  EXPECT_EQ(cut_as("gpt-2", "It'S 12345!\n\n x"),
            (pieces{"It", "'", "S", " 12345", "!", "\n\n", " x"}));
  EXPECT_EQ(cut_as("smollm", "a 12 b"), (pieces{"a", " ", "1", "2", " b"}));
  EXPECT_EQ(cut_as("llama-bpe", "It'S 12345!\n\n x"),
            (pieces{"It", "'S", " ", "123", "45", "!\n\n", " x"}));
  EXPECT_EQ(cut_as("qwen2", "a 12\n"), (pieces{"a", " ", "1", "2", "\n"}));
  EXPECT_EQ(cut_as("default", "a, 1234"), (pieces{"a", ",", " ", "123", "4"}));
  EXPECT_FALSE(patterns_of("deepseek-llm"));
}

TEST(pipeline, treats_what_matches_as_it_is_told) {
  EXPECT_EQ(cut_by_rule("Isolated", "a-b--"),
            (pieces{"a", "-", "b", "-", "-"}));
  EXPECT_EQ(cut_by_rule("Removed", "a-b--"), (pieces{"a", "b"}));
  EXPECT_EQ(cut_by_rule("MergedWithPrevious", "-a-b--"),
            (pieces{"-", "a-", "b-", "-"}));
  EXPECT_EQ(cut_by_rule("MergedWithNext", "-a--b-"),
            (pieces{"-a", "-", "-b", "-"}));
  EXPECT_EQ(cut_by_rule("Contiguous", "a--b-"), (pieces{"a", "--", "b", "-"}));
}

TEST(pipeline, a_pattern_may_say_what_stays) {
  EXPECT_EQ(cut_by_splits(R"({"type": "Split", "pattern": {"Regex": "[a-z]+"},)"
                          R"( "behavior": "Removed", "invert": true})",
                          "ab1c"),
            (pieces{"ab", "c"}));
}

// An empty match cuts, and the search goes on behind it.
TEST(pipeline, a_pattern_may_match_nothing) {
  EXPECT_EQ(cut_by_splits(R"({"type": "Split", "behavior": "Isolated",)"
                          R"( "pattern": {"Regex": "(?=é)|x*"}})",
                          "a\xc3\xa9xxb"),
            (pieces{"a", "\xc3\xa9", "xx", "b"}));
}

TEST(pipeline, letters_of_a_pattern_are_no_pattern) {
  EXPECT_EQ(cut_by_splits(R"({"type": "Split", "behavior": "Removed",)"
                          R"( "pattern": {"String": ".\\s+("}})",
                          "a.\\s+(b.sss"),
            (pieces{"a", "b.sss"}));
}

TEST(pipeline, knows_digits_words_and_spaces) {
  EXPECT_EQ(cut_by_splits(R"({"type": "Digits", "individual_digits": true})",
                          "a12\xd9\xa1"),
            (pieces{"a", "1", "2", "\xd9\xa1"}));
  EXPECT_EQ(cut_by_splits(R"({"type": "Digits"})", "a12b"),
            (pieces{"a", "12", "b"}));
  EXPECT_EQ(cut_by_splits(R"({"type": "Whitespace"})", "I'm  here_1."),
            (pieces{"I", "'", "m", "here_1", "."}));
  EXPECT_EQ(cut_by_splits(R"({"type": "WhitespaceSplit"})", " I'm\there\n"),
            (pieces{"I'm", "here"}));
  EXPECT_EQ(cut_by_splits(R"({"type": "Punctuation"})", "a$b"),
            (pieces{"a", "$", "b"}));
  EXPECT_EQ(cut_by_splits(R"({"type": "CharDelimiterSplit", "delimiter": "|"})",
                          "a|b||"),
            (pieces{"a", "b"}));
}

TEST(pipeline, marks_where_words_begin) {
  EXPECT_EQ(cut_by_splits(R"({"type": "Metaspace"})", "a  b"),
            (pieces{"▁a", "▁", "▁b"}));
  EXPECT_EQ(cut_by_splits(R"({"type": "Metaspace", "split": false,)"
                          R"( "prepend_scheme": "never"})",
                          "a b"),
            (pieces{"a▁b"}));
}

TEST(pipeline, takes_steps_in_turn) {
  EXPECT_EQ(cut_by_splits(std::string{R"({"type": "Sequence",)"
                                      R"( "pretokenizers": [)"
                                      R"({"type": "Sequence", "pretokenizers":)"
                                      R"( [{"type": "Digits",)"
                                      R"( "individual_digits": true}]}, )"}
                            + byte_level + "]}",
                          "a 12"),
            (pieces{"a", "\xc4\xa0", "1", "2"}));
}

TEST(pipeline, cleans_as_the_first_word_pieces) {
  const std::string as_it_is = R"({"type": "BertNormalizer"})";
  EXPECT_EQ(normal(as_it_is, "H\xc3\xa9llo\t\x01\xef\xbf\xbd\xc2\xa0W"),
            "hello  w");
  EXPECT_EQ(normal(as_it_is, "a\xe4\xb8\x96z"), "a \xe4\xb8\x96 z");
  // Controls, formats and what is private go: U+0007, U+00AD, U+E000. What is
  // not assigned stays: U+FFFE, U+0378.
  EXPECT_EQ(normal(as_it_is, "a\x07\xc2\xad\xee\x80\x80z"), "az");
  EXPECT_EQ(normal(as_it_is, "a\xef\xbf\xbe\xcd\xb8z"),
            "a\xef\xbf\xbe\xcd\xb8z");
  EXPECT_EQ(
    normal(R"({"type": "BertNormalizer", "lowercase": false})", "\xc3\x89"),
    "\xc3\x89");
  EXPECT_EQ(normal(R"({"type": "BertNormalizer", "lowercase": false,)"
                   R"( "strip_accents": true})",
                   "\xc3\x89"),
            "E");
  EXPECT_EQ(cut_by_splits(R"({"type": "BertPreTokenizer"})",
                          " He's $5,\xe2\x80\x94ok "),
            (pieces{"He", "'", "s", "$", "5", ",", "\xe2\x80\x94", "ok"}));
}

TEST(pipeline, changes_text_as_it_is_told) {
  EXPECT_EQ(normal(R"({"type": "NFC"})", "e\xcc\x81"), "\xc3\xa9");
  EXPECT_EQ(normal(R"({"type": "NFD"})", "\xc3\xa9"), "e\xcc\x81");
  EXPECT_EQ(normal(R"({"type": "NFKC"})", "\xef\xac\x81"), "fi");
  EXPECT_EQ(normal(R"({"type": "Lowercase"})", "\xc3\x89T"), "\xc3\xa9t");
  EXPECT_EQ(normal(R"({"type": "StripAccents"})", "e\xcc\x81"), "e");
  EXPECT_EQ(normal(R"({"type": "Strip"})", "\t a b \n"), "a b");
  EXPECT_EQ(normal(R"({"type": "Strip", "strip_right": false})", " a "), "a ");
  EXPECT_EQ(normal(R"({"type": "Strip"})", "  "), "");
  EXPECT_EQ(normal(R"({"type": "Prepend", "prepend": "_"})", "a"), "_a");
  EXPECT_EQ(normal(R"({"type": "Prepend", "prepend": "_"})", ""), "");
  EXPECT_EQ(normal(R"({"type": "Replace", "content": "_",)"
                   R"( "pattern": {"Regex": " {2,}"}})",
                   "a   b c"),
            "a_b c");
  EXPECT_EQ(normal(R"({"type": "Sequence", "normalizers": [{"type": "NFD"},)"
                   R"( {"type": "StripAccents"}, {"type": "Lowercase"}]})",
                   "\xc3\x89"),
            "e");
}

// A double array of two letters: "a" becomes "xy", and "b" nothing.
TEST(pipeline, reads_a_table_of_letters) {
  // Units: the root, whose children stand at 1 ^ byte; "a" (0x61) at 0x60 and
  // its leaf at 0x60 ^ 2; "b" (0x62) at 0x63 and its leaf at 0x63 ^ 2.
  std::vector<std::uint32_t> units(0x70, 0x80000000U | 0x100);
  units[0] = 1U << 10;
  units[0x60] = 2U << 10 | 0x100 | 0x61;
  units[0x62] = 0x80000000U; // Its text begins at 0.
  units[0x63] = 2U << 10 | 0x100 | 0x62;
  units[0x61] = 0x80000000U | 2; // At 2, where the first one ends.
  std::string all;
  const auto put = [&](std::uint32_t x) {
    for (int i = 0; i < 4; ++i)
      all += static_cast<char>(x >> 8 * i & 0xff);
  };
  put(static_cast<std::uint32_t>(units.size() * 4));
  for (const auto unit : units)
    put(unit);
  all += std::string{"xy\0", 3};
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrs"
                                 "tuvwxyz0123456789+/";
  std::string text;
  while (all.size() % 3 != 0)
    all += '\0';
  for (std::size_t i = 0; i < all.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | static_cast<unsigned char>(all[i + j]);
    for (int j = 18; j >= 0; j -= 6)
      text += digits[bits >> j & 63];
  }
  const auto step = R"({"type": "Precompiled", "precompiled_charsmap": ")";
  EXPECT_EQ(normal(step + text + "\"}", "cabac"), "cxyxyc");
  EXPECT_EQ(
    refusal(R"({"normalizer": )" + (step + text.substr(0, 400)) + "\"}}"),
    "some.json: its normalizer Precompiled has no whole "
    "precompiled_charsmap; that of the file as it was published would "
    "do");
}

TEST(pipeline, joins_tokens_as_it_is_told) {
  EXPECT_EQ(
    joined(R"({"type": "ByteLevel"})", {"\xc4\xa0h", "\xc3\x83", "\xc2\xa9"}),
    " h\xc3\xa9");
  EXPECT_EQ(joined(R"({"type": "WordPiece"})",
                   {"hel", "##lo", "world", "!", "do", "n't"}),
            "hello world! don't");
  EXPECT_EQ(joined(R"({"type": "WordPiece", "cleanup": false})", {"a", "!"}),
            "a !");
  EXPECT_EQ(joined(R"({"type": "Metaspace"})", {"▁a", "b", "▁c"}), "ab c");
  EXPECT_EQ(joined(R"({"type": "BPEDecoder"})", {"a", "b</w>", "c</w>"}),
            "ab c");
  EXPECT_EQ(joined(R"({"type": "Sequence", "decoders": [{"type": "Replace",)"
                   R"( "pattern": {"String": "▁"}, "content": " "},)"
                   R"( {"type": "ByteFallback"}, {"type": "Fuse"},)"
                   R"( {"type": "Strip", "content": " ", "start": 1,)"
                   R"( "stop": 0}]})",
                   {"▁a", "<0xC3>", "<0xA9>", "▁b"}),
            "a\xc3\xa9 b");
  EXPECT_EQ(joined("null", {"a", "b"}), "a b");
}

TEST(pipeline, names_what_it_does_not_know) {
  EXPECT_EQ(refusal(R"({"normalizer": {"type": "Nmt"}})"),
            "some.json: its normalizer is of kind 'Nmt', which is not known "
            "here; NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, "
            "Replace, Prepend, Precompiled, BertNormalizer or Sequence would "
            "do");
  EXPECT_EQ(refusal(R"({"pre_tokenizer": {"type": "UnicodeScripts"}})"),
            "some.json: its pre_tokenizer is of kind 'UnicodeScripts', which "
            "is not known here; ByteLevel, Split, Digits, Punctuation, "
            "Whitespace, WhitespaceSplit, CharDelimiterSplit, Metaspace, "
            "BertPreTokenizer or Sequence would do");
  EXPECT_EQ(refusal(R"({"decoder": {"type": "CTC"}})"),
            "some.json: its decoder is of kind 'CTC', which is not known here; "
            "ByteLevel, ByteFallback, Fuse, WordPiece, Metaspace, BPEDecoder, "
            "Strip, Replace or Sequence would do");
  EXPECT_EQ(refusal(R"({"pre_tokenizer": {"type": "Split"}})"),
            "some.json: Split has no pattern; {\"Regex\": …} or {\"String\": "
            "…} would do");
  EXPECT_EQ(refusal(R"({"pre_tokenizer": {"type": "Split", "behavior": "x"}})"),
            "some.json: its pre_tokenizer Split with a behavior is of kind "
            "'x', which is not known here; Isolated, Removed, "
            "MergedWithPrevious, MergedWithNext or Contiguous would do");
  EXPECT_EQ(refusal(std::string{R"({"pre_tokenizer": {"type": "Sequence",)"
                                R"( "pretokenizers": [)"}
                    + byte_level + R"(, {"type": "Digits"}]}})"),
            "some.json: its pre_tokenizer has 'Digits' behind ByteLevel, which "
            "is the last one that is read; the other order would do");
  EXPECT_EQ(refusal(R"({"pre_tokenizer": {"type": "Metaspace",)"
                    R"( "replacement": ""}})"),
            "some.json: its pre_tokenizer Metaspace has the replacement ''; "
            "one letter would do");
  EXPECT_EQ(refusal(R"({"pre_tokenizer": {"type": "Metaspace",)"
                    R"( "replacement": "ab"}})"),
            "some.json: its pre_tokenizer Metaspace has the replacement 'ab'; "
            "one letter would do");
  EXPECT_EQ(refusal(R"({"pre_tokenizer": {"type": "CharDelimiterSplit",)"
                    R"( "delimiter": "ab"}})"),
            "some.json: its pre_tokenizer CharDelimiterSplit is at 'ab'; one "
            "letter would do");
}

TEST(pipeline, a_pattern_that_is_none_is_named) {
  EXPECT_EQ(refusal(R"({"pre_tokenizer": {"type": "Split", "pattern":)"
                    R"( {"Regex": "a("}}})")
              .substr(0, 52),
            "some.json: pattern 'a(' is no regular expression at ");
  const auto step = byte_level_split("a(", false, "some.json");
  EXPECT_FALSE(step({"a"}));
}

} // namespace troupe::models::pipeline_test
