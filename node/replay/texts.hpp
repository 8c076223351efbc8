#pragma once

// What a replay's refusals call things.

#include <string>

#include "core/ids.hpp"

namespace troupe::node {

inline std::string to_text(visit_id x) {
  return "client " + std::to_string(x.client.value) + ", visit "
         + std::to_string(x.number.value);
}

inline std::string to_text(line_id x) {
  return "line " + std::to_string(x.value);
}

} // namespace troupe::node
