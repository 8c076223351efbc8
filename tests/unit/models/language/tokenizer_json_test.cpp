#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/language/tokenizer.hpp"
#include "models/language/tokenizer_parts.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace troupe::models::tokenizer_json_test {

namespace {

using ids = std::vector<token_id>;

const merge_list he{{"h", "e"}};

json parsed(const std::string& text) {
  auto x = json::parse(text);
  EXPECT_TRUE(x) << x.error().context;
  return std::move(*x);
}

std::string refusal(const json& x) {
  const auto made = parse_tokenizer(x, "some.json");
  if (made)
    return "read";
  EXPECT_EQ(made.error().code, errc::invalid_data);
  return made.error().context;
}

/// A tokenizer.json with another model.
json with_model(const std::string& model) {
  auto x = test::byte_level_json(he);
  x["model"] = parsed(model);
  return x;
}

json with_frame(const std::string& frame) {
  auto x = test::byte_level_json(he);
  test::add_token(x, "<s>", 257, true);
  test::add_token(x, "</s>", 258, true);
  x["post_processor"] = parsed(frame);
  return x;
}

} // namespace

TEST(tokenizer_json, merges_may_be_lines) {
  auto x = test::byte_level_json(he);
  x["model"]["merges"] = parsed(R"(["h e"])");
  EXPECT_EQ(test::ids_of(*test::read_tokenizer(x), "he"), (ids{256}));
}

TEST(tokenizer_json, knows_special_tokens_by_what_people_call_them) {
  auto x = with_frame("null");
  test::add_token(x, "<pad>", 259, true);
  const auto by = test::read_tokenizer(x);
  EXPECT_EQ(by->special().begin, std::optional<token_id>{257});
  EXPECT_EQ(by->special().end, std::optional<token_id>{258});
  EXPECT_EQ(by->special().pad, std::optional<token_id>{259});
  EXPECT_FALSE(by->special().mask);
}

TEST(tokenizer_json, what_a_file_beside_it_says_goes_before) {
  const auto x = with_frame("null");
  const auto said = special_names_in(
    parsed(R"({"eos_token": {"content": "<s>"}, "unk_token": "he"})"));
  const auto by = parse_tokenizer(x, said, "some.json");
  ASSERT_TRUE(by);
  EXPECT_EQ((*by)->special().end, std::optional<token_id>{257});
  EXPECT_EQ((*by)->special().unknown, std::optional<token_id>{256});
}

TEST(tokenizer_json, says_what_stands_around_a_text) {
  const auto by_template = test::read_tokenizer(
    with_frame(R"({"type": "TemplateProcessing", "single": [)"
               R"({"SpecialToken": {"id": "<s>", "type_id": 0}},)"
               R"( {"Sequence": {"id": "A", "type_id": 0}},)"
               R"( {"SpecialToken": {"id": "</s>", "type_id": 0}}],)"
               R"( "special_tokens": {"<s>": {"id": "<s>", "ids": [257],)"
               R"( "tokens": ["<s>"]}, "</s>": {"id": "</s>", "ids": [258],)"
               R"( "tokens": ["</s>"]}}})"));
  EXPECT_EQ(by_template->before(), (ids{257}));
  EXPECT_EQ(by_template->after(), (ids{258}));
  const auto by_names = test::read_tokenizer(
    with_frame(R"({"type": "Sequence", "processors": [{"type": "ByteLevel"},)"
               R"( {"type": "RobertaProcessing", "cls": ["<s>", 257],)"
               R"( "sep": ["</s>", 258]}]})"));
  EXPECT_EQ(by_names->before(), (ids{257}));
  EXPECT_EQ(by_names->after(), (ids{258}));
  const auto by_nobody = test::read_tokenizer(with_frame("null"));
  EXPECT_TRUE(by_nobody->before().empty() && by_nobody->after().empty());
}

TEST(tokenizer_json, added_tokens_fill_holes) {
  auto x = test::byte_level_json(he);
  auto vocabulary = json::object();
  for (const auto& [text, id] : test::letters_and(he))
    vocabulary.add(text, id < 256 ? id : id + 1);
  x["model"]["vocab"] = std::move(vocabulary);
  EXPECT_EQ(refusal(x),
            "some.json: its vocabulary has 257 tokens, and 'he' has "
            "id 257; ids from 0 without holes would do");
  test::add_token(x, "<s>", 256, true);
  const auto by = test::read_tokenizer(x);
  EXPECT_EQ(by->size(), 258U);
  EXPECT_EQ(test::ids_of(*by, "he"), (ids{257}));
}

TEST(tokenizer_json, ids_above_may_be_of_nobody) {
  auto x = test::byte_level_json(he);
  test::add_token(x, "<s>", 300, true);
  const auto by = test::read_tokenizer(x);
  EXPECT_EQ(by->size(), 301U);
  EXPECT_EQ(by->text_of(299), "");
  EXPECT_EQ(by->decode(std::vector<token_id>{299, 300}).value(), "<s>");
}

TEST(tokenizer_json, its_content_is_what_ids_follow_from) {
  const auto content = [](const json& x) {
    return test::read_tokenizer(x)->content();
  };
  const auto own = content(test::byte_level_json(he));
  EXPECT_EQ(content(test::byte_level_json(he)), own);
  auto version = test::byte_level_json(he);
  version.add("version", "1.0");
  EXPECT_EQ(content(version), own);
  auto added = test::byte_level_json(he);
  test::add_token(added, "<s>", 257, true);
  EXPECT_NE(content(added), own);
  auto normal = test::byte_level_json(he);
  normal.add("normalizer", test::step_of_kind("NFC"));
  EXPECT_NE(content(normal), own);
  EXPECT_NE(content(test::byte_level_json({{"h", "e"}, {"l", "l"}})), own);
  EXPECT_NE(content(test::byte_level_json({{"l", "l"}, {"h", "e"}})),
            content(test::byte_level_json({{"h", "e"}, {"l", "l"}})));
  auto whole = test::byte_level_json(he);
  whole["model"]["ignore_merges"] = true;
  EXPECT_NE(content(whole), own);
}

TEST(tokenizer_json, names_models_that_it_does_not_know) {
  EXPECT_EQ(refusal(with_model(R"({"type": "WordLevel", "vocab": {"a": 0}})")),
            "some.json: its model is of kind 'WordLevel', which is not known "
            "here; BPE, WordPiece or Unigram would do");
  EXPECT_EQ(refusal(json{}),
            "some.json: it has no 'model'; is it a tokenizer.json?");
  EXPECT_EQ(refusal(with_model(R"({"type": "BPE", "merges": []})")),
            "some.json: it has no vocabulary; an object of tokens and their "
            "ids would do");
  EXPECT_EQ(refusal(with_model(R"({"type": "BPE", "vocab": {"a": 0}})")),
            "some.json: it has a vocabulary of 1 tokens and no merges; the "
            "merges of the same tokenizer would do");
  EXPECT_EQ(refusal(with_model(R"({"type": "BPE", "vocab": {"a": -1}})")),
            "some.json: its token 'a' has id -1; whole numbers from 0 to "
            "1048575 would do");
  EXPECT_EQ(refusal(with_model(R"({"type": "Unigram", "vocab": []})")),
            "some.json: its model has no vocabulary; a list of 1 to 1048576 "
            "tokens with their scores would do");
  EXPECT_EQ(refusal(with_model(R"({"type": "Unigram", "vocab": [["a"]]})")),
            "some.json: its token 0 is [\"a\"]; a text and a score would do");
  EXPECT_EQ(refusal(with_model(R"({"type": "Unigram", "unk_id": 1,)"
                               R"( "vocab": [["a", -1.5]]})")),
            "some.json: its unk_id is 1, and its vocabulary has 1 tokens");
}

TEST(tokenizer_json, names_values_of_another_kind) {
  struct wrong {
    const char* section;
    const char* value;
    const char* said;
  };
  const wrong all[] = {
    {"model", R"({"type": 5, "merges": []})",
     "'model.type' is 5; a text would do"},
    {"model", R"({"type": null, "merges": []})",
     "'model.type' is null; a text would do"},
    {"model", R"({"type": "BPE", "vocab": ["a"]})",
     R"('model.vocab' is ["a"]; an object would do)"},
    {"model", R"({"type": "BPE", "ignore_merges": "yes"})",
     R"('model.ignore_merges' is "yes"; true or false, or null, would do)"},
    {"model", R"({"type": "WordPiece", "unk_token": null})",
     "'model.unk_token' is null; a text would do"},
    {"model", R"({"type": "Unigram", "unk_id": -1})",
     "'model.unk_id' is -1; a whole number from 0, or null, would do"},
    {"normalizer", "5", "'normalizer' is 5; an object would do"},
    {"normalizer",
     R"({"type": "Sequence", "normalizers":)"
     R"( [{"type": "Strip", "strip_left": 1}]})",
     "'normalizer.normalizers[0].strip_left' is 1; true or false would do"},
    {"pre_tokenizer", R"({"type": "Split", "behavior": null})",
     "'pre_tokenizer.behavior' is null; a text would do"},
    {"pre_tokenizer", R"({"type": "Sequence", "pretokenizers": 5})",
     "'pre_tokenizer.pretokenizers' is 5; a list would do"},
    {"pre_tokenizer", R"({"type": "Sequence"})",
     "'pre_tokenizer.pretokenizers' is not there; a list would do"},
    {"decoder", R"({"type": "WordPiece", "cleanup": 0})",
     "'decoder.cleanup' is 0; true or false would do"},
    {"post_processor", R"({"type": "TemplateProcessing", "single": "$A"})",
     R"('post_processor.single' is "$A"; a list would do)"},
    {"added_tokens", "{}", "'added_tokens' is {}; a list would do"},
    {"added_tokens", R"([{"id": 257, "content": "<s>", "special": 1}])",
     "'added_tokens[0].special' is 1; true or false would do"},
  };
  for (const auto& x : all) {
    auto file = test::byte_level_json(he);
    file[x.section] = parsed(x.value);
    EXPECT_EQ(refusal(file), std::string{"some.json: "} + x.said) << x.value;
  }
}

TEST(tokenizer_json, takes_nulls_that_say_nothing) {
  auto x = test::byte_level_json(he);
  for (const auto* key :
       {"dropout", "unk_token", "continuing_subword_prefix",
        "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges"})
    x["model"][key] = nullptr;
  x["normalizer"] = parsed(R"({"type": "BertNormalizer",)"
                           R"( "strip_accents": null})");
  x["post_processor"] = nullptr;
  EXPECT_EQ(refusal(x), "read");
}

TEST(tokenizer_json, names_options_of_a_model_that_it_does_not_read) {
  EXPECT_EQ(refusal(with_model(R"({"type": "BPE", "end_of_word_suffix":)"
                               R"( "</w>"})")),
            "some.json: its model has end_of_word_suffix '</w>', which is not "
            "read here; a byte-level BPE has none");
  EXPECT_EQ(refusal(with_model(R"({"type": "BPE", "dropout": 0.5})")),
            "some.json: its model has dropout 0.5, by which ids are drawn at "
            "random; null would do");
  EXPECT_EQ(refusal(with_model(R"({"type": "BPE", "vocab": {"a": 0},)"
                               R"( "merges": ["a"]})")),
            "some.json: merge 1 is 'a'; two tokens with a space between would "
            "do");
  EXPECT_EQ(refusal(with_model(R"({"type": "BPE", "vocab": {"a": 0},)"
                               R"( "merges": ["a b c"]})")),
            "some.json: merge 1 is 'a b c'; two tokens with a space between "
            "would do");
}

TEST(tokenizer_json, has_so_many_merges_and_no_more) {
  const auto more = merge_in("a b", (std::size_t{1} << 22) + 1, "merges.txt");
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().context, "merges.txt: it has more than 4194304 "
                                  "merges, and no more are read");
  EXPECT_TRUE(merge_in("a b", std::size_t{1} << 22, "merges.txt"));
}

TEST(tokenizer_json, names_added_tokens_that_do_not_fit) {
  const auto with = [](const char* text, token_id id) {
    auto x = test::byte_level_json(he);
    test::add_token(x, text, id, true);
    return x;
  };
  EXPECT_EQ(refusal(with("he", 300)),
            "some.json: its added token 'he' has id 300, and its vocabulary "
            "has it as 256; one id for each would do");
  EXPECT_EQ(refusal(with("<s>", 'a')),
            "some.json: its added token '<s>' has id 97, and that is 'a' in "
            "its vocabulary; one id for each would do");
  auto twice = with("<s>", 300);
  test::add_token(twice, "<t>", 300, true);
  EXPECT_EQ(refusal(twice),
            "some.json: its added token '<t>' has id 300, and so has '<s>'; "
            "one id for each would do");
  auto other = with("<s>", 300);
  test::add_token(other, "<s>", 301, true);
  EXPECT_EQ(refusal(other), "some.json: its added token '<s>' has the ids 300 "
                            "and 301; one would do");
  EXPECT_EQ(refusal(with(std::string(1025, 's').c_str(), 300)).substr(0, 40),
            "some.json: its added token 'ssssssssssss");
  EXPECT_EQ(refusal(with("<s>", 1 << 20)),
            "some.json: its added token 1 needs content and an id below "
            "1048576");
  auto strips = test::byte_level_json(he);
  strips["added_tokens"].push_back(
    parsed(R"({"id": 257, "content": "<s>", "lstrip": true})"));
  EXPECT_EQ(refusal(strips),
            "some.json: its added token '<s>' has lstrip, which is read of "
            "special ones alone; false would do");
}

TEST(tokenizer_json, puts_few_tokens_around_a_text) {
  constexpr const char* too_many =
    "some.json: its post_processor puts more than 64 tokens around a text; one "
    "or two would do";
  const auto many = [](const std::string& x) {
    std::string all = x;
    for (int i = 1; i < 65; ++i)
      all += ", " + x;
    return "[" + all + "]";
  };
  const std::string one = R"({"SpecialToken": {"id": "<s>"}})";
  const auto around = [&](const std::string& single, const std::string& ids) {
    return refusal(
      with_frame(R"({"type": "TemplateProcessing", "single": )" + single
                 + R"(, "special_tokens": {"<s>": {"ids": )" + ids + "}}}"));
  };
  EXPECT_EQ(around("[" + one + R"(, {"Sequence": {"id": "A"}}])", "[257]"),
            "read");
  EXPECT_EQ(around(many(one), "[257]"), too_many);
  EXPECT_EQ(around("[" + one + "]", many("257")), too_many);
  EXPECT_EQ(refusal(with_frame(R"({"type": "Sequence", "processors": )"
                               + many(R"({"type": "BertProcessing", "cls":)"
                                      R"( ["<s>", 257], "sep": ["</s>", 258]})")
                               + "}")),
            too_many);
}

TEST(tokenizer_json, names_frames_that_do_not_fit) {
  EXPECT_EQ(refusal(with_frame(R"({"type": "BertProcessing"})")),
            "some.json: its post_processor BertProcessing names a token "
            "without an id");
  EXPECT_EQ(refusal(with_frame(R"({"type": "TemplateProcessing", "single": [)"
                               R"({"SpecialToken": {"id": "[CLS]"}}]})")),
            "some.json: its post_processor TemplateProcessing names a token "
            "without an id");
  EXPECT_EQ(refusal(with_frame(R"({"type": "BertProcessing", "cls":)"
                               R"( ["[CLS]", 900], "sep": ["[SEP]", 257]})")),
            "some.json: its post_processor names id 900, which is of no token");
  const auto writes = [](const std::string& single) {
    return refusal(with_frame(R"({"type": "TemplateProcessing", "single": [)"
                              + single + "]}"));
  };
  const auto refused = [](const std::string& what) {
    return "some.json: its post_processor TemplateProcessing writes " + what
           + "; one \"Sequence\" of id \"A\" in 'single' would do";
  };
  const std::string text = R"({"Sequence": {"id": "A", "type_id": 0}})";
  EXPECT_EQ(writes(text), "read");
  EXPECT_EQ(writes(""), refused("a text 0 times"));
  EXPECT_EQ(writes(text + ", " + text), refused("a text 2 times"));
  EXPECT_EQ(writes(R"({"Sequence": {"id": "B"}})"),
            refused("another text than the one"));
  EXPECT_EQ(refusal(with_frame(R"({"type": "Wrapping"})")),
            "some.json: its post_processor is of kind 'Wrapping', which is not "
            "known here; TemplateProcessing, BertProcessing, "
            "RobertaProcessing, ByteLevel or Sequence would do");
}

} // namespace troupe::models::tokenizer_json_test
