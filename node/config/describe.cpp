#include <sstream>

#include "node/config/schema.hpp"

namespace troupe::node {

std::string describe(count_range x) {
  return "an integer from " + std::to_string(x.min) + " to "
         + std::to_string(x.max);
}

std::string describe(number_range x) {
  std::ostringstream text;
  text << "a number" << (x.above_min ? " above " : " from ") << x.min
       << (x.below_max   ? " to below "
           : x.above_min ? ", up to "
                         : " to ")
       << x.max;
  return text.str();
}

std::string describe_list(const std::string& item) {
  return "a list of up to " + std::to_string(items_max) + ", each " + item;
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
