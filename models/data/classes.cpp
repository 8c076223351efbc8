#include "models/data/classes.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace troupe::models {

namespace {

tl::unexpected<error> refuse(std::string_view origin, std::int64_t label,
                             std::int64_t example, const std::string& why) {
  return fail(errc::invalid_data, std::string{origin} + ": label "
                                    + std::to_string(label) + " of example "
                                    + std::to_string(example) + why);
}

} // namespace

result<std::int64_t> count_classes(std::span<const std::int64_t> labels,
                                   std::int64_t expected,
                                   std::string_view origin) {
  const auto top = std::ranges::max_element(labels);
  if (top == labels.end())
    return expected;
  const auto at = top - labels.begin();
  if (expected == 0) {
    const std::set<std::int64_t> found(labels.begin(), labels.end());
    const auto classes = *top + 1;
    if (2 * static_cast<std::int64_t>(found.size()) < classes)
      return refuse(origin, *top, at,
                    " stands far from the others: of " + std::to_string(classes)
                      + " labels up to it only " + std::to_string(found.size())
                      + " occur; if all of them are meant, data.classes = "
                      + std::to_string(classes) + " says so");
    return classes;
  }
  if (*top >= expected)
    return refuse(origin, *top, at,
                  " is out of range; 0 to " + std::to_string(expected - 1)
                    + ", as data.classes says, would do");
  return expected;
}

} // namespace troupe::models
