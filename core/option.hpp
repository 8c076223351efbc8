#pragma once

// What a method lets a configuration say: each option once, with what it may be
// and what it is where nobody says it.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Both ends are such that nothing overflows that is computed from them.
struct number_range {
  double min = 0;
  double max = 1e30;
  bool above_min = false; ///< The minimum itself is excluded,
  bool below_max = false; ///< and the maximum.

  friend bool operator==(const number_range&, const number_range&) = default;
};

inline constexpr number_range any_real{.min = -1e30};
inline constexpr number_range above_zero{.above_min = true};
inline constexpr number_range a_share{.max = 1};
inline constexpr number_range below_one{.max = 1, .below_max = true};

/// Nothing contains what is not a number.
constexpr bool contains(number_range range, double x) noexcept {
  return (range.above_min ? x > range.min : x >= range.min)
         && (range.below_max ? x < range.max : x <= range.max);
}

std::string describe(number_range x);
std::string describe(std::span<const std::string_view> names);

enum class option_kind : std::uint8_t {
  number,
  whole,  ///< A number without a fraction.
  flag,   ///< 0 or 1.
  choice, ///< One of `words`, as its place among them.
};

struct option_spec {
  std::string name;
  std::string says; ///< For people.
  option_kind kind = option_kind::number;
  double value = 0; ///< Where nobody says it: the publication's.
  number_range range = {};
  std::string unit = {}; ///< Of a number: what it counts or multiplies.
  std::vector<std::string_view> words = {};
  std::string was = {}; ///< The option that said this, too, in the past.

  friend bool operator==(const option_spec&, const option_spec&) = default;
};

/// Of a flag, a choice and a number.
number_range range_of(const option_spec& x);

/// Whether an option may have this value.
bool fits(const option_spec& of, double x);

/// What an option may be, for people: "an integer from 1 to 1024".
std::string takes(const option_spec& x);

/// Values of options, by name.
using options = std::map<std::string, double>;

} // namespace troupe
