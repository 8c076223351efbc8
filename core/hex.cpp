#include "core/hex.hpp"

namespace troupe {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

} // namespace

std::string to_hex(std::span<const std::uint8_t> x) {
  std::string out;
  for (const auto byte : x)
    out += {digits[byte >> 4], digits[byte & 15]};
  return out;
}

bool from_hex(std::string_view x, std::span<std::uint8_t> to) {
  if (x.size() != 2 * to.size()
      || x.find_first_not_of(digits) != std::string_view::npos)
    return false;
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<std::uint8_t>(digits.find(x[2 * i]) << 4
                                      | digits.find(x[2 * i + 1]));
  return true;
}

} // namespace troupe
