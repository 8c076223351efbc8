#pragma once

#include <string>
#include <vector>

namespace troupe::models {

/// A text that a model wrote, and those that would have done.
struct said_and_meant {
  std::string said;
  std::vector<std::string> meant = {}; ///< One at least.
};

} // namespace troupe::models
