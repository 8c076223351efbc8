#include "node/report/markup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace troupe::node {

namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* text, ...) {
  std::array<char, 64> line{};
  std::va_list args;
  va_start(args, text);
  std::vsnprintf(line.data(), line.size(), text, args);
  va_end(args);
  return line.data();
}

/// "3 d 4 h": `big` and what is left of it.
std::string two_parts(double seconds, double big, const char* big_name,
                      double small, const char* small_name) {
  auto first = std::floor(seconds / big);
  auto rest = std::round((seconds - first * big) / small);
  if (rest * small >= big) {
    ++first;
    rest = 0;
  }
  return format("%.0f %s %.0f %s", first, big_name, rest, small_name);
}

} // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const auto c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string coordinate(double x) {
  const auto tenths = std::lround(x * 10);
  return tenths % 10 == 0 ? format("%ld", tenths / 10)
                          : format("%.1f", static_cast<double>(tenths) / 10);
}

std::string number(double x) {
  const auto size = std::abs(x);
  if (x == 0)
    return "0";
  if (size >= 1e6 || size < 1e-4)
    return format("%.3g", x);
  if (size >= 1000)
    return count(x);
  return format("%.4g", x);
}

std::string count(double x) {
  return fixed(x, 0);
}

std::string fixed(double x, int decimals) {
  auto digits = format("%.*f", decimals, std::abs(x));
  const auto whole = std::min(digits.find('.'), digits.size());
  for (auto at = static_cast<std::ptrdiff_t>(whole) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return x < 0 ? "-" + digits : digits;
}

std::string scientific(double x, int digits) {
  return format("%.*e", digits - 1, x);
}

std::string duration(double seconds) {
  if (seconds < 0.001)
    return format("%.2g s", seconds);
  if (seconds < 120)
    return format(seconds < 10 ? "%.3g s" : "%.1f s", seconds);
  if (seconds < 7200)
    return two_parts(seconds, 60, "min", 1, "s");
  if (seconds < 172800)
    return two_parts(seconds, 3600, "h", 60, "min");
  return two_parts(seconds, 86400, "d", 3600, "h");
}

std::string bytes(double x) {
  constexpr const char* units[]{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (x >= 1024 && unit + 1 < std::size(units)) {
    x /= 1024;
    ++unit;
  }
  return format(unit == 0 || x >= 100 ? "%.0f %s" : "%.1f %s", x, units[unit]);
}

std::string percent(double x) {
  return format("%.1f %%", 100 * x);
}

} // namespace troupe::node
