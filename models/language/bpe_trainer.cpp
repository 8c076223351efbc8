#include "models/language/bpe_trainer.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/merge_learner.hpp"
#include "models/language/text_pattern.hpp"
#include "models/language/token_pipeline.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t byte_tokens = 256;

/// As GPT-2's files write bytes.
std::string in_letters(std::string_view x) {
  std::string made;
  for (const char byte : x)
    made += byte_letters(static_cast<std::uint8_t>(byte));
  return made;
}

/// The bytes that such letters stand for; none: some letter is of no byte.
std::optional<std::string> of_letters(std::string_view x) {
  std::string made;
  for (std::size_t at = 0; at < x.size();) {
    const auto letter = x.substr(at, letter_at(x, at).bytes);
    std::size_t byte = 0;
    while (byte < byte_tokens
           && byte_letters(static_cast<std::uint8_t>(byte)) != letter)
      ++byte;
    if (byte == byte_tokens)
      return std::nullopt;
    made.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
    at += letter.size();
  }
  return made;
}

result<void> check(const bpe_training& how) {
  const std::set<std::string> special{how.special.begin(), how.special.end()};
  if (special.size() < how.special.size() || special.contains(""))
    return fail(errc::invalid_argument,
                "a special token is empty or there twice; others would do");
  for (const auto& x : special) {
    if (!is_utf8(x))
      return fail(errc::invalid_argument,
                  "the special token " + in_quotes(x)
                    + " is no UTF-8; a text of letters would do");
    if (const auto spelled = of_letters(x); spelled && spelled->size() == 1)
      return fail(errc::invalid_argument,
                  "the special token " + in_quotes(x)
                    + " is that of a byte; a longer one would do");
  }
  const auto least = byte_tokens + special.size();
  if (how.size < least || how.size > limits::vocabulary_max)
    return fail(errc::invalid_argument,
                "a vocabulary of " + std::to_string(how.size)
                  + " tokens cannot be: 256 are bytes and "
                  + std::to_string(special.size()) + " special; "
                  + std::to_string(least) + " to "
                  + std::to_string(limits::vocabulary_max) + " would do");
  return {};
}

/// What stands in one text between bytes that are no UTF-8.
class piece_counter {
public:
  piece_counter(const text_pattern& by, piece_counts& to) : by_(by), to_(to) {
    // nop
  }

  result<void> count(std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto x = letter_at(text, at);
      if (!x.valid) {
        if (auto ok = count_letters(text.substr(begin, at - begin)); !ok)
          return ok;
        begin = at + x.bytes;
      }
      at += x.bytes;
    }
    return count_letters(text.substr(begin));
  }

private:
  result<void> count_letters(std::string_view run) {
    text_search matches{by_, run};
    for (std::size_t at = 0; at < run.size();) {
      const auto found = matches.next(at);
      if (!found)
        return tl::make_unexpected(found.error());
      const auto begin = *found ? (*found)->begin : run.size();
      const auto end = *found ? (*found)->end : run.size();
      if (begin > at) // The pattern leaves it out.
        if (auto ok = add(run.substr(at, begin - at)); !ok)
          return ok;
      if (end > begin)
        if (auto ok = add(run.substr(begin, end - begin)); !ok)
          return ok;
      at = std::max(end, at + 1);
    }
    return {};
  }

  result<void> add(std::string_view piece) {
    if (piece.size() > limits::piece_bytes_max)
      return fail(errc::invalid_data,
                  "a piece has " + std::to_string(piece.size())
                    + " bytes; words of at most "
                    + std::to_string(limits::piece_bytes_max) + " would do");
    const auto known = to_.find(piece);
    if (known != to_.end())
      ++known->second;
    else
      to_.emplace(std::string{piece}, 1);
    return {};
  }

  const text_pattern& by_;
  piece_counts& to_;
};

result<piece_counts> count_pieces(std::span<const std::string> texts) {
  const auto patterns = patterns_of("gpt-2");
  TROUPE_ASSERT(patterns && patterns->size() == 1);
  const auto pattern = text_pattern::compile(patterns->front(), "GPT-2");
  if (!pattern)
    return tl::make_unexpected(pattern.error());
  piece_counts counts;
  piece_counter counter{*pattern, counts};
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (auto ok = counter.count(texts[i]); !ok)
      return fail(ok.error().code,
                  "text " + std::to_string(i + 1) + ": " + ok.error().context);
  return counts;
}

json byte_level() {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", true}};
}

json model_of(const merge_learner& learned,
              const std::vector<std::string>& special) {
  json vocabulary = json::object();
  std::uint64_t id = 0;
  for (const auto& x : learned.tokens())
    vocabulary.add(in_letters(x), id++);
  for (const auto& x : special)
    vocabulary.add(x, id++);
  json merges = json::array();
  for (const auto& [left, right] : learned.merges())
    merges.push_back(in_letters(learned.tokens()[left]) + " "
                     + in_letters(learned.tokens()[right]));
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", std::move(vocabulary)},
          {"merges", std::move(merges)}};
}

json added(const std::vector<std::string>& special, std::uint64_t first) {
  json all = json::array();
  for (const auto& x : special)
    all.push_back({{"id", first++},
                   {"content", x},
                   {"single_word", false},
                   {"lstrip", false},
                   {"rstrip", false},
                   {"normalized", false},
                   {"special", true}});
  return all;
}

} // namespace

result<json> train_bpe(std::span<const std::string> texts,
                       const bpe_training& how) {
  if (auto ok = check(how); !ok)
    return tl::make_unexpected(ok.error());
  const auto pieces = count_pieces(texts);
  if (!pieces)
    return tl::make_unexpected(pieces.error());
  merge_learner::options until{.size = how.size - how.special.size(),
                               .least = how.least};
  for (const auto& x : how.special)
    if (auto spelled = of_letters(x))
      until.forbidden.insert(std::move(*spelled));
  merge_learner learned{*pieces, std::move(until)};
  learned.learn();
  return json{{"version", "1.0"},
              {"truncation", nullptr},
              {"padding", nullptr},
              {"added_tokens", added(how.special, learned.tokens().size())},
              {"normalizer", nullptr},
              {"pre_tokenizer", byte_level()},
              {"post_processor", nullptr},
              {"decoder", byte_level()},
              {"model", model_of(learned, how.special)}};
}

} // namespace troupe::models
