#include "actors/node/config/toml.hpp"

#include <algorithm>

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
