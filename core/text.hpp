#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// A text for a terminal or a log, with what others wrote in it: what would
/// move the cursor, colour, turn or hide letters, or is no UTF-8, is shown as
/// \xNN. Lines and tabs stay.
std::string printable(std::string_view x);

/// All of it, to the last byte.
bool is_utf8(std::string_view x);

/// How many bytes are before the first that is no UTF-8; its size: all are.
std::size_t utf8_until(std::string_view x);

/// As errors speak of names that others chose: printable, and in one line.
std::string in_quotes(std::string_view x);

/// Of a long text its beginning, at most so many bytes of it, and how many
/// there are in all.
std::string shortened(std::string_view x, std::size_t bytes_max = 100);

/// Of a digest's hex digits, whoever wrote them, as many as messages show: in
/// one line and printable.
std::string short_digest(std::string_view digits);

/// "1 client", "2 clients".
std::string so_many(std::uint64_t n, std::string_view what);

/// Without blanks and ends of lines around it, which come with what is pasted.
inline std::string_view trimmed(std::string_view x) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = x.find_first_not_of(blanks);
  if (first == x.npos)
    return {};
  return x.substr(first, x.find_last_not_of(blanks) - first + 1);
}

/// The last line that is not empty: of a script's exception, what is wrong.
inline std::string_view last_line(std::string_view x) {
  const auto end = x.find_last_not_of("\r\n ");
  x = x.substr(0, end == x.npos ? 0 : end + 1);
  const auto before = x.find_last_of('\n');
  return before == x.npos ? x : x.substr(before + 1);
}

} // namespace troupe
