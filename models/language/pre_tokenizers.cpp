#include <array>
#include <memory>
#include <utility>

#include "models/language/pipeline_steps.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

constexpr std::string_view gpt2_pattern =
  R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view contractions = R"((?i:'s|'t|'re|'ve|'m|'ll|'d))";
constexpr std::string_view since_gpt4 =
  R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// GPT-2's letters: a byte that shows itself in Latin-1 is that letter, and the
/// others in turn are those from U+0100.
struct letter_table {
  std::array<std::array<char, 2>, 256> text{};
  std::array<std::uint8_t, 256> size{};
  std::array<std::int16_t, 0x144> byte{}; ///< Below zero: no byte's letter.
};

constexpr bool shows_itself(unsigned x) {
  return (x >= 0x21 && x <= 0x7e) || (x >= 0xa1 && x <= 0xac) || x >= 0xae;
}

constexpr letter_table make_letters() {
  letter_table x;
  for (auto& byte : x.byte)
    byte = -1;
  unsigned other = 0x100;
  for (unsigned b = 0; b < 256; ++b) {
    const auto letter = shows_itself(b) ? b : other++;
    x.byte[letter] = static_cast<std::int16_t>(b);
    if (letter < 0x80) {
      x.text[b] = {static_cast<char>(letter), '\0'};
      x.size[b] = 1;
    } else {
      x.text[b] = {static_cast<char>(0xc0 | letter >> 6),
                   static_cast<char>(0x80 | (letter & 0x3f))};
      x.size[b] = 2;
    }
  }
  return x;
}

constexpr letter_table letters_of_bytes = make_letters();

std::string lettered(std::string_view bytes) {
  std::string x;
  x.reserve(bytes.size() + 2);
  for (const auto c : bytes)
    x += byte_letters(static_cast<std::uint8_t>(c));
  return x;
}

} // namespace

std::string_view byte_letters(std::uint8_t byte) noexcept {
  return {letters_of_bytes.text[byte].data(), letters_of_bytes.size[byte]};
}

std::optional<std::uint8_t> byte_of_letter(char32_t x) noexcept {
  if (x >= letters_of_bytes.byte.size() || letters_of_bytes.byte[x] < 0)
    return std::nullopt;
  return static_cast<std::uint8_t>(letters_of_bytes.byte[x]);
}

std::optional<std::string> bytes_of_letters(std::string_view x) {
  std::string bytes;
  bytes.reserve(x.size());
  for (std::size_t at = 0; at < x.size();) {
    const auto letter = letter_at(x, at);
    const auto byte = letter.valid ? byte_of_letter(letter.value)
                                   : std::optional<std::uint8_t>{};
    if (!byte)
      return std::nullopt;
    bytes += static_cast<char>(*byte);
    at += letter.bytes;
  }
  return bytes;
}

bool is_white_space(char32_t x) noexcept {
  return (x >= 0x9 && x <= 0xd) || x == 0x20 || x == 0x85 || x == 0xa0
         || x == 0x1680 || (x >= 0x2000 && x <= 0x200a) || x == 0x2028
         || x == 0x2029 || x == 0x202f || x == 0x205f || x == 0x3000;
}

bool is_punctuation(char32_t x) noexcept {
  if (x < 0x80)
    return (x >= 0x21 && x <= 0x2f) || (x >= 0x3a && x <= 0x40)
           || (x >= 0x5b && x <= 0x60) || (x >= 0x7b && x <= 0x7e);
  return class_of(x) == letter_class::punctuation;
}

split_step byte_level_split(std::optional<std::string> pattern,
                            bool prefix_space, std::string_view origin) {
  std::shared_ptr<const text_pattern> by;
  std::optional<error> problem;
  if (!pattern || !pattern->empty()) {
    auto x = text_pattern::compile(pattern ? *pattern : gpt2_pattern, origin);
    if (x)
      by = std::make_shared<const text_pattern>(std::move(*x));
    else
      problem = std::move(x.error());
  }
  return
    [by, problem, prefix_space](
      std::vector<std::string> pieces) -> result<std::vector<std::string>> {
      if (problem)
        return tl::unexpected{*problem};
      std::vector<std::string> all;
      for (auto& piece : pieces) {
        if (prefix_space && !piece.starts_with(' '))
          piece.insert(piece.begin(), ' ');
        if (!by) {
          all.push_back(lettered(piece));
          continue;
        }
        auto ok = each_stretch(*by, piece, [&](std::string_view x, bool) {
          if (!x.empty())
            all.push_back(lettered(x));
        });
        if (!ok)
          return tl::unexpected{std::move(ok.error())};
      }
      return all;
    };
}

split_step bert_split() {
  return
    [](std::vector<std::string> pieces) -> result<std::vector<std::string>> {
      std::vector<std::string> all;
      for (const auto& piece : pieces) {
        const std::string_view text = piece;
        std::size_t begin = 0; // Of the word that has not ended.
        for (std::size_t at = 0; at < text.size();) {
          const auto x = letter_at(text, at);
          const bool space = is_white_space(x.value);
          if (space || is_punctuation(x.value)) {
            if (begin < at)
              all.emplace_back(text.substr(begin, at - begin));
            if (!space)
              all.emplace_back(text.substr(at, x.bytes));
            begin = at + x.bytes;
          }
          at += x.bytes;
        }
        if (begin < text.size())
          all.emplace_back(text.substr(begin));
      }
      return all;
    };
}

// "default" is what other readers do with a file that does not say more.
std::optional<std::vector<std::string>> patterns_of(std::string_view pre) {
  const std::string gpt2{gpt2_pattern};
  const std::string word =
    std::string{contractions} + R"(|[^\r\n\p{L}\p{N}]?\p{L}+)";
  if (pre == "gpt-2")
    return std::vector{gpt2};
  if (pre == "smollm")
    return std::vector{std::string{R"(\p{N})"}, gpt2};
  if (pre == "llama-bpe")
    return std::vector{word + R"(|\p{N}{1,3})" + std::string{since_gpt4}};
  if (pre == "qwen2")
    return std::vector{word + R"(|\p{N})" + std::string{since_gpt4}};
  if (pre == "default")
    return std::vector<std::string>{
      R"([\p{P}\$\+<=>\^~\|]+)",
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))",
      R"(\p{N}+)", R"([0-9][0-9][0-9])"};
  return std::nullopt;
}

} // namespace troupe::models
