#include "node/config/toml.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "node/config/toml_cover.hpp"

namespace troupe::node {

namespace {

constexpr std::size_t key_parts_max = 16;
constexpr char beyond_ascii[] =
  "letters beyond ASCII stand in quotes or comments alone";

bool confuses(std::string_view text) {
  try {
    (void)toml::parse(text);
  } catch (const toml::parse_error&) {
    return false;
  } catch (const toml_confusion&) {
    return true;
  }
  return false;
}

/// The first line that is no UTF-8.
std::optional<toml_problem> not_utf8(std::string_view text) {
  for (std::uint64_t line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (!is_utf8(text.substr(0, end)))
      return toml_problem{line, "this line is no UTF-8"};
    text.remove_prefix(end);
  }
  return std::nullopt;
}

/// Behind the string that begins at `at`, or where its line ends without it.
/// Counts the lines that it passes.
std::size_t end_of_string(std::string_view text, std::size_t at,
                          std::uint64_t& line) {
  const auto quote = text[at];
  const std::string three(3, quote);
  const bool many_lines = text.substr(at).starts_with(three);
  const auto close = many_lines ? three : std::string(1, quote);
  for (at += close.size(); at < text.size(); ++at) {
    if (text.substr(at).starts_with(close)) {
      at += close.size();
      // Two quotes may stand before the three that end it.
      for (int i = 0; many_lines && i < 2; ++i)
        at += at < text.size() && text[at] == quote;
      return at;
    }
    if (quote == '"' && text[at] == '\\' && at + 1 < text.size())
      ++at;
    if (text[at] == '\n' && !many_lines)
      return at;
    line += text[at] == '\n';
  }
  return text.size();
}

/// What must not reach the library, outside of strings and comments: of each
/// part of a key it makes a table in a table, and calls itself for each. And
/// what is said more clearly here: letters beyond ASCII mean nothing there.
std::optional<toml_problem> unreadable(std::string_view text) {
  constexpr std::string_view ends_of_keys{"=,[]{}\n"};
  std::uint64_t line = 1;
  std::size_t parts = 1; // Of what may be a key.
  const auto too_many = [&] {
    return toml_problem{line, "a key has " + std::to_string(parts)
                                + " parts; up to "
                                + std::to_string(key_parts_max) + " would do"};
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const auto c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      at = end_of_string(text, at, line);
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return toml_problem{line, beyond_ascii};
    } else {
      if (ends_of_keys.find(c) != ends_of_keys.npos) {
        if (parts > key_parts_max)
          return too_many();
        parts = 1;
      }
      parts += c == '.';
      line += c == '\n';
      ++at;
    }
  }
  return parts > key_parts_max ? std::optional{too_many()} : std::nullopt;
}

/// The first line with whose end the library is lost: with each that comes
/// after it, it is, too.
std::uint64_t line_of_confusion(std::string_view text) {
  std::vector<std::size_t> ends;
  for (auto end = text.find('\n'); end != text.npos;
       end = text.find('\n', end + 1))
    ends.push_back(end);
  const auto found = std::ranges::partition_point(
    ends, [&](std::size_t end) { return !confuses(text.substr(0, end)); });
  return static_cast<std::uint64_t>(found - ends.begin()) + 1;
}

tl::expected<toml::table, toml_problem> parsed(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    return tl::make_unexpected(
      toml_problem{e.source().begin.line, std::string{e.description()}});
  } catch (const toml_confusion&) {
    return tl::make_unexpected(toml_problem{
      line_of_confusion(text),
      "a name or a quoted name must follow the bracket of a table"});
  }
}

} // namespace

tl::expected<toml::table, toml_problem> read_toml(std::string_view text) {
  constexpr std::string_view byte_order_mark{"\xEF\xBB\xBF"};
  if (text.starts_with(byte_order_mark))
    text.remove_prefix(byte_order_mark.size());
  auto problem = not_utf8(text);
  if (!problem)
    problem = unreadable(text);
  if (problem)
    return tl::make_unexpected(std::move(*problem));
  const toml_cover cover{text};
  auto table = parsed(cover.text());
  if (table)
    problem = cover.lift(*table);
  else if (cover.shows_in(table.error().what))
    problem = toml_problem{table.error().line, beyond_ascii};
  if (problem)
    return tl::make_unexpected(std::move(*problem));
  return table;
}

} // namespace troupe::node
