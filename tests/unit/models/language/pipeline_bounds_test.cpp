// What a file's steps may make of a text, and how many there may be.

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/language/token_pipeline.hpp"

namespace troupe::models::pipeline_bounds_test {

namespace {

result<token_pipeline> read(const std::string& text) {
  const auto said = json::parse(text);
  EXPECT_TRUE(said) << said.error().context;
  return pipeline_of(*said, "some.json");
}

token_pipeline pipeline(const std::string& text) {
  auto x = read(text);
  EXPECT_TRUE(x) << x.error().context;
  return std::move(*x);
}

std::string joined(const std::string& decoder,
                   std::vector<std::string> tokens) {
  const auto by = pipeline(R"({"decoder": )" + decoder + "}");
  const auto text = by.join(std::move(tokens));
  EXPECT_TRUE(text) << text.error().context;
  return *text;
}

std::string refusal(const std::string& text) {
  const auto x = read(text);
  return x ? "read" : x.error().context;
}

} // namespace

TEST(pipeline_bounds, makes_no_more_of_a_text_than_is_bearable) {
  constexpr const char* too_much =
    "steps make more than 2080 bytes of it; those of the file as it was "
    "published would do";
  const std::string content(5000, 'a');
  const auto replace = R"({"type": "Replace", "pattern": {"String": "a"},)"
                       R"( "content": ")"
                       + content + "\"}";
  const auto x = pipeline(R"({"normalizer": )" + replace + R"(, "decoder": )"
                          + replace + "}");
  const auto text = x.normalise.front()("a");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().context, too_much);
  // A token of which a step would make too much stays as it is.
  const auto kept = x.join({"a"});
  ASSERT_TRUE(kept) << kept.error().context;
  EXPECT_EQ(*kept, "a");
  std::string steps;
  const std::string ten = R"({"type": "Replace", "pattern": {"String": "a"},)"
                          R"( "content": "aaaaaaaaaa"})";
  for (int i = 0; i < 9; ++i)
    steps += (i > 0 ? ", " : "") + ten;
  const auto y = pipeline(R"({"decoder": {"type": "Sequence", "decoders": [)"
                          + steps + "]}}");
  const auto grown = y.join({"a"});
  ASSERT_FALSE(grown);
  EXPECT_EQ(grown.error().context, too_much);
}

TEST(pipeline_bounds, has_so_many_steps_and_no_more) {
  const auto many = [](const std::string& x, int count) {
    std::string all = x;
    for (int i = 1; i < count; ++i)
      all += ", " + x;
    return "[" + all + "]";
  };
  const auto normaliser = [&](int count) {
    return refusal(R"({"normalizer": {"type": "Sequence", "normalizers": )"
                   + many(R"({"type": "NFC"})", count) + "}}");
  };
  EXPECT_EQ(normaliser(64), "read");
  EXPECT_EQ(normaliser(65), "some.json: its normalizer has more than 64 steps, "
                            "and no more are read");
  EXPECT_EQ(refusal(R"({"pre_tokenizer": {"type": "Sequence",)"
                    R"( "pretokenizers": )"
                    + many(R"({"type": "Digits"})", 65) + "}}"),
            "some.json: its pre_tokenizer has more than 64 steps, and no more "
            "are read");
  EXPECT_EQ(refusal(R"({"decoder": {"type": "Sequence", "decoders": )"
                    + many(R"({"type": "Fuse"})", 65) + "}}"),
            "some.json: its decoder has more than 64 steps, and no more are "
            "read");
}

// However often it is asked to.
TEST(pipeline_bounds, strips_letters_from_ends_of_tokens) {
  const auto strip = R"({"type": "Strip", "content": "a", "start": )";
  EXPECT_EQ(joined(std::string{strip} + R"(2, "stop": 1})", {"aaabaa"}), "aba");
  EXPECT_EQ(joined(std::string{strip} + R"(18446744073709551615, "stop": 0})",
                   {std::string(1000, 'a') + "b"}),
            "b");
  EXPECT_EQ(joined(std::string{strip} + R"(2, "stop": 2})", {"aaa"}), "");
}

} // namespace troupe::models::pipeline_bounds_test
