#include "node/config/schema.hpp"

namespace troupe::node {

std::string describe(count_range x) {
  return "an integer from " + std::to_string(x.min) + " to "
         + std::to_string(x.max);
}

std::string describe_list(const std::string& item) {
  return "a list of up to " + std::to_string(items_max) + ", each " + item;
}

} // namespace troupe::node
