#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "models/language/pipeline_steps.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

/// A text of the letters of another one: `change` appends what becomes of each.
template <class Change>
std::string by_letter(std::string_view text, Change change) {
  std::string x;
  x.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto letter = letter_at(text, at);
    change(letter.value, text.substr(at, letter.bytes), x);
    at += letter.bytes;
  }
  return x;
}

/// A step that cannot fail.
template <class Change>
text_step step_of(Change change) {
  return [change](std::string x) -> result<std::string> {
    return change(std::move(x));
  };
}

/// Cc, Cf or Co. What is not assigned stays: the reference's table does not
/// have it.
bool is_cleaned_away(char32_t x) noexcept {
  const auto found = class_of(x);
  return found == letter_class::control
         || (found == letter_class::other && is_assigned(x));
}

/// Ideographs, which stand beside each other without spaces; as BERT's authors
/// have them.
bool is_ideograph(char32_t x) noexcept {
  constexpr std::array<std::pair<char32_t, char32_t>, 8> ranges{{
    {0x4e00, 0x9fff},
    {0x3400, 0x4dbf},
    {0x20000, 0x2a6df},
    {0x2a700, 0x2b73f},
    {0x2b740, 0x2b81f},
    {0x2b920, 0x2ceaf},
    {0xf900, 0xfaff},
    {0x2f800, 0x2fa1f},
  }};
  for (const auto& [low, high] : ranges)
    if (x >= low && x <= high)
      return true;
  return false;
}

std::string cleaned(std::string_view text) {
  return by_letter(
    text, [](char32_t x, std::string_view bytes, std::string& to) {
      const bool blank = x == '\t' || x == '\n' || x == '\r';
      if (x == 0 || x == 0xfffd || (!blank && is_cleaned_away(x)))
        return;
      if (blank || is_white_space(x))
        to += ' ';
      else
        to += bytes;
    });
}

std::string with_spaces(std::string_view text) {
  return by_letter(text,
                   [](char32_t x, std::string_view bytes, std::string& to) {
                     const bool apart = is_ideograph(x);
                     if (apart)
                       to += ' ';
                     to += bytes;
                     if (apart)
                       to += ' ';
                   });
}

std::string without_accents(std::string_view text) {
  return by_letter(normalised(text, normal_form::nfd),
                   [](char32_t x, std::string_view bytes, std::string& to) {
                     if (!is_nonspacing_mark(x))
                       to += bytes;
                   });
}

std::string without_marks(std::string_view text) {
  return by_letter(text,
                   [](char32_t x, std::string_view bytes, std::string& to) {
                     if (class_of(x) != letter_class::mark)
                       to += bytes;
                   });
}

std::string stripped(std::string_view text, bool left, bool right) {
  std::size_t begin = text.size(), end = 0; // Of what is no white space.
  for (std::size_t at = 0; at < text.size();) {
    const auto x = letter_at(text, at);
    if (!is_white_space(x.value)) {
      begin = std::min(begin, at);
      end = at + x.bytes;
    }
    at += x.bytes;
  }
  if (end == 0) // There is nothing else.
    return left || right ? std::string{} : std::string{text};
  if (!left)
    begin = 0;
  if (!right)
    end = text.size();
  return std::string{text.substr(begin, end - begin)};
}

std::optional<normal_form> normal_form_of(std::string_view kind) noexcept {
  if (kind == "NFC")
    return normal_form::nfc;
  if (kind == "NFD")
    return normal_form::nfd;
  if (kind == "NFKC")
    return normal_form::nfkc;
  if (kind == "NFKD")
    return normal_form::nfkd;
  return std::nullopt;
}

result<text_step> replacing_step(const json& x, std::string_view origin) {
  auto pattern = pattern_in(x, origin);
  if (!pattern)
    return tl::unexpected{std::move(pattern.error())};
  return replacing(*pattern, text_in(x, "content", ""), origin);
}

text_step bert_step(const json& x) {
  const bool lower = flag_in(x, "lowercase", true);
  return bert_normaliser(flag_in(x, "clean_text", true),
                         flag_in(x, "handle_chinese_chars", true),
                         flag_in(x, "strip_accents", lower), lower);
}

/// Nothing: of no kind that is known.
result<std::optional<text_step>> normaliser_step_in(const json& x,
                                                    std::string_view origin) {
  using found = std::optional<text_step>;
  const auto kind = type_of(x);
  if (const auto form = normal_form_of(kind))
    return found{step_of([form = *form](const std::string& text) {
      return normalised(text, form);
    })};
  if (kind == "BertNormalizer")
    return found{bert_step(x)};
  if (kind == "Lowercase")
    return found{
      step_of([](const std::string& text) { return lowercased(text); })};
  if (kind == "StripAccents")
    return found{
      step_of([](const std::string& text) { return without_marks(text); })};
  if (kind == "Strip")
    return found{step_of(
      [left = flag_in(x, "strip_left", true),
       right = flag_in(x, "strip_right", true)](const std::string& text) {
        return stripped(text, left, right);
      })};
  if (kind == "Prepend")
    return found{
      step_of([what = text_in(x, "prepend", "")](const std::string& text) {
        return text.empty() ? text : what + text;
      })};
  if (kind == "Precompiled")
    return charsmap_step(x, origin).map(
      [](text_step step) { return found{std::move(step)}; });
  if (kind == "Replace")
    return replacing_step(x, origin).map(
      [](text_step step) { return found{std::move(step)}; });
  return found{};
}

} // namespace

text_step bert_normaliser(bool clean, bool chinese, bool strip, bool lower) {
  return [=](std::string x) -> result<std::string> {
    if (clean)
      x = cleaned(x);
    if (chinese)
      x = with_spaces(x);
    if (strip)
      x = without_accents(x);
    if (lower)
      x = lowercased(x);
    return x;
  };
}

result<text_step> replacing(std::string_view pattern, std::string content,
                            std::string_view origin) {
  auto compiled = text_pattern::compile(pattern, origin);
  if (!compiled)
    return tl::unexpected{std::move(compiled.error())};
  return text_step{
    [by = std::make_shared<const text_pattern>(std::move(*compiled)),
     content = std::move(content)](std::string x) -> result<std::string> {
      const auto most = most_made_of(x.size());
      std::string all;
      auto ok = each_stretch(*by, x, [&](std::string_view part, bool matches) {
        if (all.size() <= most)
          all += matches ? std::string_view{content} : part;
      });
      if (!ok)
        return tl::unexpected{std::move(ok.error())};
      if (all.size() > most)
        return refuse_growth(most);
      return all;
    }};
}

result<void> read_normalisers(const json& x, std::string_view origin,
                              std::vector<text_step>& to) {
  if (type_of(x) == "Sequence") {
    const auto* steps = x.find("normalizers");
    if (steps && steps->items())
      for (const auto& step : *steps->items())
        if (auto ok = read_normalisers(step, origin, to); !ok)
          return ok;
    return {};
  }
  if (auto ok = check_count_of_steps(to.size(), "normalizer", origin); !ok)
    return ok;
  auto step = normaliser_step_in(x, origin);
  if (!step)
    return tl::unexpected{std::move(step.error())};
  if (!*step)
    return refuse_kind(
      "normalizer", type_of(x), origin,
      "NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, "
      "Replace, Prepend, Precompiled, BertNormalizer or Sequence");
  to.push_back(std::move(**step));
  return {};
}

} // namespace troupe::models
