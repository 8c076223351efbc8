#include "node/config/toml.hpp"

#include <algorithm>
#include <optional>

namespace troupe::node {

namespace {

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

/// Behind the string that begins at `at`, or where its line ends without it.
/// Counts the lines that it passes.
std::size_t end_of_string(std::string_view text, std::size_t at,
                          std::uint64_t& line) {
  const auto quote = text[at];
  const std::string three(3, quote);
  const bool many_lines = text.substr(at).starts_with(three);
  const auto close = many_lines ? three : std::string(1, quote);
  for (at += close.size(); at < text.size(); ++at) {
    if (text.substr(at).starts_with(close))
      return at + close.size();
    if (quote == '"' && text[at] == '\\' && at + 1 < text.size())
      ++at;
    if (text[at] == '\n' && !many_lines)
      return at;
    line += text[at] == '\n';
  }
  return text.size();
}

/// The line of the first character beyond ASCII outside of strings and
/// comments. It means nothing there, and the library's behaviour is undefined.
std::optional<std::uint64_t> line_of_stray(std::string_view text) {
  constexpr std::string_view byte_order_mark{"\xEF\xBB\xBF"};
  std::uint64_t line = 1;
  std::size_t at =
    text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  while (at < text.size()) {
    const auto c = text[at];
    if (c == '#')
      at = std::min(text.find('\n', at), text.size());
    else if (c == '"' || c == '\'')
      at = end_of_string(text, at, line);
    else if (static_cast<unsigned char>(c) >= 0x80)
      return line;
    else {
      line += c == '\n';
      ++at;
    }
  }
  return std::nullopt;
}

/// The first line with whose end the library is lost.
std::uint64_t line_of_confusion(std::string_view text) {
  std::uint64_t line = 1;
  for (auto end = text.find('\n'); end != text.npos;
       end = text.find('\n', end + 1), ++line)
    if (confuses(text.substr(0, end)))
      break;
  return line;
}

} // namespace

tl::expected<toml::table, toml_problem> read_toml(std::string_view text) {
  if (const auto line = line_of_stray(text))
    return tl::make_unexpected(toml_problem{
      *line, "letters beyond ASCII stand in quotes or comments alone"});
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

} // namespace troupe::node
