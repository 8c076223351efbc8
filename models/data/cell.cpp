#include "models/data/cell.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

namespace troupe::models {

namespace {

std::string_view without_plus(std::string_view cell) noexcept {
  auto text = trimmed_cell(cell);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  return text;
}

/// Whether all of it was read as a number, and how that went.
template <class Number>
std::optional<std::errc> read_whole(std::string_view text, Number& to) {
  const auto end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, to);
  return stop == end ? std::optional{code} : std::nullopt;
}

} // namespace

std::string_view trimmed_cell(std::string_view x) noexcept {
  while (!x.empty() && (x.front() == ' ' || x.front() == '\t'))
    x.remove_prefix(1);
  while (!x.empty() && (x.back() == ' ' || x.back() == '\t'))
    x.remove_suffix(1);
  return x;
}

std::optional<double> decimal_in(std::string_view cell) {
  const auto text = without_plus(cell);
  double x = 0;
  const auto code = read_whole(text, x);
  if (!code || *code == std::errc::invalid_argument)
    return std::nullopt;
  if (*code == std::errc{})
    return x;
  // Too large or too small, and which of the two is not said.
  const auto nearest = std::strtod(std::string{text}.c_str(), nullptr);
  return std::abs(nearest) < 1 ? std::optional{nearest} : std::nullopt;
}

std::optional<float> finite_in(std::string_view cell) {
  const auto x = decimal_in(cell);
  if (!x || !std::isfinite(static_cast<float>(*x)))
    return std::nullopt;
  return static_cast<float>(*x);
}

std::optional<std::int64_t> integer_in(std::string_view cell) {
  std::int64_t x = 0;
  if (read_whole(without_plus(cell), x) != std::errc{})
    return std::nullopt;
  return x;
}

} // namespace troupe::models
