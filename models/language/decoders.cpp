#include <array>
#include <charconv>
#include <utility>

#include "models/language/pipeline_steps.hpp"

namespace troupe::models {

namespace {

using tokens = std::vector<std::string>;

/// Tokens become other ones, in the end one text.
using token_step = std::function<tokens(tokens)>;

std::string joined(const tokens& xs, std::string_view between = "") {
  std::string all;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (i > 0)
      all += between;
    all += xs[i];
  }
  return all;
}

std::size_t bytes_of(const tokens& xs) noexcept {
  std::size_t sum = 0;
  for (const auto& x : xs)
    sum += x.size();
  return sum;
}

/// All places of `what`, one after the other.
std::string replaced(std::string_view text, std::string_view what,
                     std::string_view by) {
  std::string all;
  while (!what.empty()) {
    const auto at = text.find(what);
    if (at == text.npos)
      break;
    all += text.substr(0, at);
    all += by;
    text.remove_prefix(at + what.size());
  }
  all += text;
  return all;
}

/// A token that is not of letters alone is what it says.
tokens from_letters(tokens xs) {
  for (auto& x : xs)
    if (auto bytes = bytes_of_letters(x))
      x = std::move(*bytes);
  return xs;
}

/// "<0xE2>" is a byte.
tokens from_byte_names(tokens xs) {
  for (auto& x : xs)
    if (x.size() == 6 && x.starts_with("<0x") && x.back() == '>') {
      unsigned byte = 0;
      const auto* end = x.data() + 5;
      if (std::from_chars(x.data() + 3, end, byte, 16).ptr == end)
        x = std::string(1, static_cast<char>(byte));
    }
  return xs;
}

std::string tidied(std::string x) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> rules{
    {{" .", "."},
     {" ?", "?"},
     {" !", "!"},
     {" ,", ","},
     {" ' ", "'"},
     {" n't", "n't"},
     {" 'm", "'m"},
     {" do not", " don't"},
     {" 's", "'s"},
     {" 've", "'ve"},
     {" 're", "'re"}}};
  for (const auto& [what, by] : rules)
    x = replaced(x, what, by);
  return x;
}

token_step from_words(std::string prefix, bool tidy) {
  return [prefix = std::move(prefix), tidy](tokens xs) {
    for (std::size_t i = 0; i < xs.size(); ++i) {
      if (i > 0) {
        if (xs[i].starts_with(prefix))
          xs[i].erase(0, prefix.size());
        else
          xs[i].insert(0, 1, ' ');
      }
      if (tidy)
        xs[i] = tidied(std::move(xs[i]));
    }
    return xs;
  };
}

token_step from_metaspace(std::string letter, bool first_is_none) {
  return [letter = std::move(letter), first_is_none](tokens xs) {
    for (std::size_t i = 0; i < xs.size(); ++i)
      xs[i] = replaced(xs[i], letter, i == 0 && first_is_none ? "" : " ");
    return xs;
  };
}

token_step from_endings(std::string suffix) {
  return [suffix = std::move(suffix)](tokens xs) {
    for (std::size_t i = 0; i < xs.size(); ++i)
      xs[i] = replaced(xs[i], suffix, i + 1 == xs.size() ? "" : " ");
    return xs;
  };
}

token_step without_ends(std::string letter, std::size_t left,
                        std::size_t right) {
  return [letter = std::move(letter), left, right](tokens xs) {
    for (auto& x : xs) {
      std::string_view rest = x;
      for (std::size_t i = 0; i < left && rest.starts_with(letter); ++i)
        rest.remove_prefix(letter.size());
      for (std::size_t i = 0; i < right && rest.ends_with(letter); ++i)
        rest.remove_suffix(letter.size());
      x = std::string{rest};
    }
    return xs;
  };
}

/// Where a pattern gives up, a token stays.
token_step with_other_text(text_step change) {
  return [change = std::move(change)](tokens xs) {
    for (auto& x : xs)
      if (auto other = change(x))
        x = std::move(*other);
    return xs;
  };
}

std::size_t count_in(const json& x, std::string_view key) {
  const auto* found = x.find(key);
  return found ? static_cast<std::size_t>(found->count().value_or(0)) : 0;
}

/// Nothing: of no kind that is known.
result<token_step> decoder_step_in(const json& x, std::string_view origin) {
  const auto kind = type_of(x);
  if (kind == "ByteLevel")
    return token_step{from_letters};
  if (kind == "ByteFallback")
    return token_step{from_byte_names};
  if (kind == "Fuse")
    return token_step{[](const tokens& xs) { return tokens{joined(xs)}; }};
  if (kind == "WordPiece")
    return from_words(text_in(x, "prefix", "##"), flag_in(x, "cleanup", true));
  if (kind == "Metaspace")
    return from_metaspace(text_in(x, "replacement", "\u2581"),
                          text_in(x, "prepend_scheme", "always") != "never"
                            && flag_in(x, "add_prefix_space", true));
  if (kind == "BPEDecoder")
    return from_endings(text_in(x, "suffix", "</w>"));
  if (kind == "Strip") {
    auto letter = text_in(x, "content", " ");
    return letter.empty()
             ? token_step{[](tokens xs) { return xs; }}
             : without_ends(std::move(letter), count_in(x, "start"),
                            count_in(x, "stop"));
  }
  if (kind == "Replace") {
    auto pattern = pattern_in(x, origin);
    if (!pattern)
      return tl::unexpected{std::move(pattern.error())};
    auto change = replacing(*pattern, text_in(x, "content", ""), origin);
    if (!change)
      return tl::unexpected{std::move(change.error())};
    return with_other_text(std::move(*change));
  }
  return refuse_kind("decoder", kind, origin,
                     "ByteLevel, ByteFallback, Fuse, WordPiece, Metaspace, "
                     "BPEDecoder, Strip, Replace or Sequence");
}

result<void> read_steps(const json& x, std::string_view origin,
                        std::vector<token_step>& to) {
  if (type_of(x) == "Sequence") {
    const auto* steps = x.find("decoders");
    if (steps && steps->items())
      for (const auto& step : *steps->items())
        if (auto ok = read_steps(step, origin, to); !ok)
          return ok;
    return {};
  }
  if (auto ok = check_count_of_steps(to.size(), "decoder", origin); !ok)
    return ok;
  auto step = decoder_step_in(x, origin);
  if (!step)
    return tl::unexpected{std::move(step.error())};
  to.push_back(std::move(*step));
  return {};
}

} // namespace

result<join_step> read_decoder(const json* x, bool byte_level,
                               std::string_view origin) {
  std::vector<token_step> steps;
  const bool said = x && x->fields();
  if (said)
    if (auto ok = read_steps(*x, origin, steps); !ok)
      return tl::unexpected{std::move(ok.error())};
  if (!said && byte_level)
    steps.emplace_back(from_letters);
  // Tokens of which nobody says how they were cut are words.
  const std::string_view between = steps.empty() ? " " : "";
  return join_step{
    [steps = std::move(steps), between](tokens xs) -> result<std::string> {
      const auto most = most_made_of(bytes_of(xs));
      for (const auto& step : steps) {
        xs = step(std::move(xs));
        if (bytes_of(xs) > most)
          return refuse_growth(most);
      }
      return joined(xs, between);
    }};
}

} // namespace troupe::models
