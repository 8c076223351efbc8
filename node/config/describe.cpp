#include <cmath>
#include <limits>
#include <sstream>

#include "node/config/schema.hpp"

namespace troupe::node {

std::string describe(count_range x) {
  std::string text = "an integer";
  if (x.max >= std::numeric_limits<std::uint32_t>::max())
    return text + ", at least " + std::to_string(x.min);
  return text + " from " + std::to_string(x.min) + " to "
         + std::to_string(x.max);
}

std::string describe(number_range x) {
  std::ostringstream text;
  text << "a number";
  if (x.min <= -1e300)
    return text.str();
  text << (x.above_min      ? " above "
           : x.max >= 1e300 ? ", at least "
                            : " from ")
       << x.min;
  if (x.max < 1e300)
    text << (x.above_min ? ", up to " : " to ") << x.max;
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

} // namespace troupe::node
