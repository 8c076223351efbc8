#include <algorithm>
#include <utility>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/pipeline_steps.hpp"
#include "models/language/tokenizer_parts.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

constexpr std::string_view known_splits =
  "ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, "
  "CharDelimiterSplit, Metaspace, BertPreTokenizer or Sequence";

/// A pattern of these letters and no others.
std::string literal(std::string_view letters) {
  std::string x;
  for (const auto c : letters) {
    const auto byte = static_cast<unsigned char>(c);
    const auto lower = byte | 0x20;
    const bool plain = (lower >= 'a' && lower <= 'z')
                       || (byte >= '0' && byte <= '9') || byte >= 0x80;
    if (!plain)
      x += '\\';
    x += c;
  }
  return x;
}

// Where the first stretch of a text alone should have the letter before it, all
// have: they differ where an added token stands within a text.
result<split_step> metaspace(const json& x, std::string_view origin) {
  auto letter = text_in(x, "replacement", "\u2581");
  if (letter.empty() || letter_at(letter, 0).bytes != letter.size())
    return refuse_tokenizer(origin, "its pre_tokenizer Metaspace has the "
                                    "replacement "
                                      + in_quotes(shortened(letter))
                                      + "; one letter would do");
  const bool prepends = text_in(x, "prepend_scheme", "always") != "never"
                        && flag_in(x, "add_prefix_space", true);
  return split_step{
    [letter = std::move(letter), prepends, cuts = flag_in(x, "split", true)](
      std::vector<std::string> pieces) -> result<std::vector<std::string>> {
      std::vector<std::string> all;
      for (const auto& piece : pieces) {
        std::string text;
        for (const auto c : piece)
          if (c == ' ')
            text += letter;
          else
            text += c;
        if (prepends && !text.starts_with(letter))
          text.insert(0, letter);
        // Of several in a row each begins a piece.
        for (std::size_t begin = 0; begin < text.size();) {
          const auto end =
            cuts ? std::min(text.find(letter, begin + 1), text.size())
                 : text.size();
          all.push_back(text.substr(begin, end - begin));
          begin = end;
        }
      }
      return all;
    }};
}

result<cut_rule> rule_in(const json& x, std::string_view origin) {
  const auto name = text_in(x, "behavior", "Isolated");
  if (const auto rule = cut_rule_of(name))
    return *rule;
  return refuse_kind("pre_tokenizer " + std::string{type_of(x)}
                       + " with a behavior",
                     name, origin,
                     "Isolated, Removed, MergedWithPrevious, MergedWithNext "
                     "or Contiguous");
}

result<split_step> split_by_pattern(const json& x, std::string_view origin) {
  const auto rule = rule_in(x, origin);
  if (!rule)
    return tl::unexpected{rule.error()};
  auto pattern = pattern_in(x, origin);
  if (!pattern)
    return tl::unexpected{std::move(pattern.error())};
  return cut_by(*pattern,
                {.rule = *rule, .invert = flag_in(x, "invert", false)}, origin);
}

result<split_step> split_at_delimiter(const json& x, std::string_view origin) {
  const auto delimiter = text_in(x, "delimiter", "");
  if (delimiter.empty() || letter_at(delimiter, 0).bytes != delimiter.size())
    return refuse_tokenizer(origin, "its pre_tokenizer CharDelimiterSplit is "
                                    "at "
                                      + in_quotes(shortened(delimiter))
                                      + "; one letter would do");
  return cut_at([letter = letter_at(delimiter, 0).value](
                  char32_t c) { return c == letter; },
                {.rule = cut_rule::removed});
}

/// One that cuts text before bytes become letters, or without that.
result<split_step> split_in(const json& x, std::string_view origin) {
  const auto kind = type_of(x);
  if (kind == "Split")
    return split_by_pattern(x, origin);
  if (kind == "Metaspace")
    return metaspace(x, origin);
  if (kind == "CharDelimiterSplit")
    return split_at_delimiter(x, origin);
  if (kind == "BertPreTokenizer")
    return bert_split();
  if (kind == "WhitespaceSplit")
    return cut_at(is_white_space, {.rule = cut_rule::removed});
  if (kind == "Whitespace") // Words, and what stands between words and blanks.
    return cut_by(R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+)"
                  R"(|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\s]+)",
                  {.rule = cut_rule::removed, .invert = true}, origin);
  if (kind == "Digits")
    return cut_at(
      [](char32_t c) { return class_of(c) == letter_class::number; },
      {.rule = flag_in(x, "individual_digits", false) ? cut_rule::isolated
                                                      : cut_rule::contiguous});
  if (kind == "Punctuation")
    return rule_in(x, origin).map(
      [](cut_rule rule) { return cut_at(is_punctuation, {.rule = rule}); });
  return refuse_kind("pre_tokenizer", kind, origin, known_splits);
}

} // namespace

std::size_t most_made_of(std::size_t bytes) noexcept {
  constexpr std::size_t beside = 64; // Short texts may get letters around them.
  return limits::bytes_made_of_one_max * (bytes + beside);
}

tl::unexpected<error> refuse_growth(std::size_t most) {
  return fail(errc::invalid_data,
              "steps make more than " + std::to_string(most)
                + " bytes of it; those of the file as it was published would "
                  "do");
}

result<void> check_count_of_steps(std::size_t steps, std::string_view section,
                                  std::string_view origin) {
  if (steps < limits::tokenizer_steps_max)
    return {};
  return refuse_tokenizer(origin,
                          "its " + std::string{section} + " has more than "
                            + std::to_string(limits::tokenizer_steps_max)
                            + " steps, and no more are read");
}

std::string_view type_of(const json& x) noexcept {
  const auto* found = x.find("type");
  const auto* text = found ? found->text() : nullptr;
  return text ? std::string_view{*text} : std::string_view{};
}

bool flag_in(const json& x, std::string_view key, bool otherwise) {
  const auto* found = x.find(key);
  return found ? found->flag().value_or(otherwise) : otherwise;
}

std::string text_in(const json& x, std::string_view key,
                    std::string otherwise) {
  const auto* found = x.find(key);
  const auto* text = found ? found->text() : nullptr;
  return text ? *text : std::move(otherwise);
}

result<std::string> pattern_in(const json& x, std::string_view origin) {
  const auto* pattern = x.find("pattern");
  const auto* letters = pattern ? pattern->find("String") : nullptr;
  if (letters && letters->text())
    return literal(*letters->text());
  const auto* regex = pattern ? pattern->find("Regex") : nullptr;
  if (regex && regex->text())
    return *regex->text();
  return refuse_tokenizer(origin, std::string{type_of(x)}
                                    + " has no pattern; {\"Regex\": …} or "
                                      "{\"String\": …} would do");
}

tl::unexpected<error> refuse_kind(std::string_view section,
                                  std::string_view kind,
                                  std::string_view origin,
                                  std::string_view known) {
  return refuse_tokenizer(origin, "its " + std::string{section} + " is of kind "
                                    + in_quotes(shortened(kind))
                                    + ", which is not known here; "
                                    + std::string{known} + " would do");
}

result<void> read_splits(const json& x, std::string_view origin,
                         token_pipeline& to) {
  const auto kind = type_of(x);
  if (kind == "Sequence") {
    const auto* steps = x.find("pretokenizers");
    if (steps && steps->items())
      for (const auto& step : *steps->items())
        if (auto ok = read_splits(step, origin, to); !ok)
          return ok;
    return {};
  }
  if (auto ok = check_count_of_steps(to.split.size(), "pre_tokenizer", origin);
      !ok)
    return ok;
  if (to.byte_level)
    return refuse_tokenizer(origin, "its pre_tokenizer has "
                                      + in_quotes(shortened(kind))
                                      + " behind ByteLevel, which is the last "
                                        "one that is read; the other order "
                                        "would do");
  if (kind == "ByteLevel") {
    auto pattern = flag_in(x, "use_regex", true) ? std::optional<std::string>{}
                                                 : std::optional{std::string{}};
    to.split.push_back(byte_level_split(
      std::move(pattern), flag_in(x, "add_prefix_space", true), origin));
    to.byte_level = true;
    return {};
  }
  auto step = split_in(x, origin);
  if (!step)
    return tl::unexpected{std::move(step.error())};
  to.split.push_back(std::move(*step));
  return {};
}

result<token_pipeline> pipeline_of(const json& tokenizer_json,
                                   std::string_view origin) {
  token_pipeline x;
  const auto* normaliser = tokenizer_json.find("normalizer");
  if (normaliser && normaliser->fields())
    if (auto ok = read_normalisers(*normaliser, origin, x.normalise); !ok)
      return tl::unexpected{std::move(ok.error())};
  const auto* splits = tokenizer_json.find("pre_tokenizer");
  if (splits && splits->fields())
    if (auto ok = read_splits(*splits, origin, x); !ok)
      return tl::unexpected{std::move(ok.error())};
  auto join =
    read_decoder(tokenizer_json.find("decoder"), x.byte_level, origin);
  if (!join)
    return tl::unexpected{std::move(join.error())};
  x.join = std::move(*join);
  return x;
}

} // namespace troupe::models
