#include "core/option.hpp"

#include <cmath>
#include <sstream>

namespace troupe {

std::string describe(number_range x) {
  std::ostringstream text;
  text << "a number" << (x.above_min ? " above " : " from ") << x.min
       << (x.below_max   ? " to below "
           : x.above_min ? ", up to "
                         : " to ")
       << x.max;
  return text.str();
}

std::string describe(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += '"' + std::string{names[i]} + '"';
  }
  return text;
}

number_range range_of(const option_spec& x) {
  switch (x.kind) {
    case option_kind::flag:
      return {.max = 1};
    case option_kind::choice:
      return {.max = static_cast<double>(x.words.size()) - 1};
    case option_kind::number:
    case option_kind::whole:
      break;
  }
  return x.range;
}

bool fits(const option_spec& of, double x) {
  return contains(range_of(of), x)
         && (of.kind == option_kind::number || x == std::floor(x));
}

std::string takes(const option_spec& x) {
  switch (x.kind) {
    case option_kind::flag:
      return "true or false";
    case option_kind::choice:
      return describe(x.words);
    case option_kind::whole:
      return "an integer from "
             + std::to_string(static_cast<std::int64_t>(x.range.min)) + " to "
             + std::to_string(static_cast<std::int64_t>(x.range.max));
    case option_kind::number:
      break;
  }
  return describe(x.range);
}

} // namespace troupe
