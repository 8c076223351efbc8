#include "node/keys/lines.hpp"

namespace troupe::node {

namespace {

constexpr std::string_view last = "end";

/// The next line of `rest`, which loses it. Nothing: it has no end.
result<std::string_view> next_line(std::string_view& rest, std::size_t number) {
  const auto end = rest.find('\n');
  if (end == rest.npos)
    return fail(errc::storage_failure,
                "it ends in line " + std::to_string(number));
  const auto out = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return out;
}

auto unexpected(std::size_t number, std::string_view wanted) {
  return fail(errc::storage_failure, "line " + std::to_string(number)
                                       + " should be '" + std::string{wanted}
                                       + "'");
}

} // namespace

std::string write_lines(std::string_view title,
                        std::span<const char* const> words,
                        std::span<const std::string> values) {
  std::string out{title};
  out += '\n';
  for (std::size_t i = 0; i < words.size(); ++i)
    out.append(words[i]).append(" ").append(values[i]).append("\n");
  return out.append(last).append("\n");
}

result<std::vector<std::string>>
read_lines(std::string_view text, std::string_view title,
           std::span<const char* const> words) {
  std::vector<std::string> out;
  const auto lines = words.size() + 2;
  for (std::size_t number = 1; number <= lines; ++number) {
    const auto line = next_line(text, number);
    if (!line)
      return tl::make_unexpected(line.error());
    if (number == 1 || number == lines) {
      const auto wanted = number == 1 ? title : last;
      if (*line != wanted)
        return unexpected(number, wanted);
      continue;
    }
    const std::string_view word = words[number - 2];
    if (!line->starts_with(word) || line->size() < word.size() + 2
        || (*line)[word.size()] != ' ')
      return unexpected(number, std::string{word} + " …");
    out.emplace_back(line->substr(word.size() + 1));
  }
  if (!text.empty())
    return fail(errc::storage_failure, "there is something behind its end");
  return out;
}

} // namespace troupe::node
