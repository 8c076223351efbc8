#include "core/text.hpp"

#include <cstddef>
#include <cstdint>

namespace troupe {

namespace {

struct letter {
  std::size_t size = 1; ///< In bytes.
  std::uint32_t code = 0;
  bool whole = false; ///< It is UTF-8.
};

/// The first of a text that is not empty.
letter first_of(std::string_view x) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(x[i]));
  };
  if (byte(0) < 0x80)
    return {1, byte(0), true};
  const std::size_t size = byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || x.size() < size)
    return {};
  auto code = byte(0) & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = 0xd800 <= code && code < 0xe000;
  return {size, code, code >= least[size] && code <= 0x10ffff && !surrogate};
}

/// Shows itself, and changes nothing of what stands around it.
bool is_shown(std::uint32_t code) {
  const auto within = [&](std::uint32_t low, std::uint32_t high) {
    return low <= code && code <= high;
  };
  const bool control = code < 0x20 || within(0x7f, 0x9f);
  const bool turns = code == 0x61c || within(0x200b, 0x200f)
                     || within(0x2028, 0x202e) || within(0x2060, 0x206f)
                     || code == 0xfeff;
  return !control && !turns;
}

std::string shown(std::string_view x, bool in_one_line) {
  std::string text;
  while (!x.empty()) {
    const auto next = first_of(x);
    const auto size = next.whole ? next.size : 1;
    const bool space = next.code == '\n' || next.code == '\t';
    if (next.whole && (is_shown(next.code) || (space && !in_one_line)))
      text += x.substr(0, size);
    else
      for (const auto c : x.substr(0, size)) {
        constexpr const char* digits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        text += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      }
    x.remove_prefix(size);
  }
  return text;
}

} // namespace

bool is_utf8(std::string_view x) {
  return utf8_until(x) == x.size();
}

std::size_t utf8_until(std::string_view x) {
  std::size_t at = 0;
  while (at < x.size()) {
    const auto next = first_of(x.substr(at));
    if (!next.whole)
      break;
    at += next.size;
  }
  return at;
}

std::string printable(std::string_view x) {
  return shown(x, false);
}

std::string in_quotes(std::string_view x) {
  return "'" + shown(x, true) + "'";
}

std::string shortened(std::string_view x, std::size_t bytes_max) {
  if (x.size() <= bytes_max)
    return std::string{x};
  auto end = bytes_max; // No half of a letter.
  while (end > 0 && (static_cast<unsigned char>(x[end]) & 0xc0) == 0x80)
    --end;
  return std::string{x.substr(0, end)} + "... (" + std::to_string(x.size())
         + " bytes)";
}

std::string short_digest(std::string_view digits) {
  return shown(digits.substr(0, 8), true);
}

std::string so_many(std::uint64_t n, std::string_view what) {
  return std::to_string(n) + ' ' + std::string{what} + (n == 1 ? "" : "s");
}

} // namespace troupe
