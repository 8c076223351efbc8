#include "core/name.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::size_t size_max = 64;

bool is_letter(char x) {
  return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z')
         || (x >= '0' && x <= '9') || x == '.' || x == '_' || x == '-';
}

} // namespace

bool is_name(std::string_view x) noexcept {
  return !x.empty() && x.size() <= size_max && std::ranges::all_of(x, is_letter)
         && x.front() != '-' && x.front() != '.';
}

} // namespace troupe
