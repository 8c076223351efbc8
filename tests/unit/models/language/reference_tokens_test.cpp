// Ids of texts as the reference tokenizers say them. What they are compared
// with is made by tests/interop/language/tokens.py.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/language/tokenizer.hpp"
#include "models/layout.hpp"
#include "tests/support/reference_values.hpp"

namespace troupe::models::reference_tokens_test {

namespace {

using ids = std::vector<token_id>;
using test::list_in;

/// Texts and models by command, which not all have.
std::optional<std::filesystem::path> language_folder() {
  const auto* folder = std::getenv("TROUPE_LANGUAGE");
  return folder != nullptr ? std::optional<std::filesystem::path>{folder}
                           : std::nullopt;
}

std::string bytes_of(std::string_view hex) {
  std::string made;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    made += static_cast<char>(static_cast<unsigned char>(
      std::stoul(std::string{hex.substr(i, 2)}, nullptr, 16)));
  return made;
}

ids ids_in(const json& x) {
  ids all;
  for (const auto& id : *x.items())
    all.push_back(static_cast<token_id>(id.count().value_or(0)));
  return all;
}

ids encoded(const tokenizer& by, std::string_view text) {
  ids all;
  const auto ok = by.encode(text, special_rule::as_text, all);
  EXPECT_TRUE(ok) << ok.error().context;
  return all;
}

std::string as_text(const ids& xs) {
  std::string text;
  for (const auto x : xs)
    text += (text.empty() ? "" : " ") + std::to_string(x);
  return text;
}

std::string hex_digest(const std::string& text) {
  return to_hex(digest_of(std::as_bytes(std::span{text})));
}

/// Each has its length before it.
std::vector<std::string> lines_in(std::string_view packed) {
  std::vector<std::string> lines;
  while (packed.size() >= 4) {
    std::size_t size = 0;
    for (std::size_t i = 4; i > 0; --i)
      size = size << 8 | static_cast<unsigned char>(packed[i - 1]);
    lines.emplace_back(packed.substr(4, size));
    packed.remove_prefix(std::min(packed.size(), size + 4));
  }
  return lines;
}

/// Whether ids of a text are that text again. A byte that is no token is lost,
/// as the reference loses its letter.
class way_back {
public:
  explicit way_back(const tokenizer& by) : by_(by) {
    for (std::size_t x = 0; x < has_.size(); ++x)
      has_[x] = !encoded(by, std::string(1, static_cast<char>(x))).empty();
  }

  void check(const std::string& text, const ids& found) const {
    if (by_.kind() != "bpe")
      return; // The others lose spaces and case.
    std::string expected;
    for (const auto x : text)
      if (has_[static_cast<unsigned char>(x)])
        expected += x;
    const auto back = by_.decode(found);
    ASSERT_TRUE(back) << back.error().context;
    EXPECT_EQ(*back, expected) << in_quotes(text);
  }

private:
  const tokenizer& by_;
  std::array<bool, 256> has_{};
};

std::shared_ptr<const tokenizer> loaded(const std::filesystem::path& path) {
  auto by = load_tokenizer(path);
  EXPECT_TRUE(by) << by.error().context;
  return by ? std::move(*by) : nullptr;
}

} // namespace

TEST(reference_tokens, of_small_tokenizers_are_ours) {
  const auto all = test::reference_values("small_tokens.json");
  ASSERT_EQ(list_in(all, "tokenizers").size(), 6u);
  for (const auto& one : list_in(all, "tokenizers")) {
    const auto& name = *one.find("name")->text();
    SCOPED_TRACE(name);
    const auto by = parse_tokenizer(*one.find("tokenizer"), name);
    ASSERT_TRUE(by) << by.error().context;
    const way_back back{**by};
    for (const auto& line : *one.find("lines")->items()) {
      const auto text = bytes_of(*line.find("hex")->text());
      const auto found = encoded(**by, text);
      EXPECT_EQ(found, ids_in(*line.find("ids"))) << in_quotes(text);
      back.check(text, found);
    }
  }
}

TEST(reference_tokens, of_published_tokenizers_are_ours) {
  const auto folder = language_folder();
  if (!folder)
    GTEST_SKIP() << "TROUPE_LANGUAGE says where texts and models are";
  const auto all = test::reference_values("tokens.json");
  const auto& lines = list_in(all, "full");
  ASSERT_GT(lines.size(), 300u);
  ASSERT_EQ(list_in(all, "tokenizers").size(), 2u);
  for (const auto& one : list_in(all, "tokenizers")) {
    const auto& path = *one.find("path")->text();
    SCOPED_TRACE(path);
    const auto by = loaded(*folder / path);
    ASSERT_NE(by, nullptr);
    const auto& expected = *one.find("ids")->items();
    ASSERT_EQ(expected.size(), lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto text = bytes_of(*lines[i].text());
      EXPECT_EQ(encoded(*by, text), ids_in(expected[i])) << in_quotes(text);
    }
  }
}

TEST(reference_tokens, of_ten_thousand_lines_are_ours) {
  const auto folder = language_folder();
  if (!folder)
    GTEST_SKIP() << "TROUPE_LANGUAGE says where texts and models are";
  const auto all = test::reference_values("tokens.json");
  ASSERT_EQ(list_in(all, "tokenizers").size(), 2u);
  const auto packed =
    read_text(*folder / "token_lines.bin", errc::invalid_data);
  if (!packed || hex_digest(*packed) != *all.find("digest")->text())
    GTEST_SKIP() << *folder
                 << " has other lines: './dev data language' makes them, of "
                    "the packages of Debian 12";
  const auto lines = lines_in(*packed);
  ASSERT_EQ(lines.size(), all.find("lines")->count());
  constexpr std::size_t digits = 8; // Of the digest of a line's ids.
  for (const auto& one : list_in(all, "tokenizers")) {
    const auto& path = *one.find("path")->text();
    SCOPED_TRACE(path);
    const auto by = loaded(*folder / path);
    ASSERT_NE(by, nullptr);
    const way_back back{*by};
    const auto& digests = *one.find("digests")->text();
    ASSERT_EQ(digests.size(), lines.size() * digits);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto found = encoded(*by, lines[i]);
      EXPECT_EQ(hex_digest(as_text(found)).substr(0, digits),
                digests.substr(i * digits, digits))
        << "line " << i << ": " << in_quotes(lines[i]);
      back.check(lines[i], found);
    }
  }
}

} // namespace troupe::models::reference_tokens_test
