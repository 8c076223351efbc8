#pragma once

// For laws over all methods of the catalogue that learn any model: others need
// the blocks of a language model.

#include <vector>

#include "models/inner_setup.hpp"
#include "policies/catalogue.hpp"

namespace troupe::test {

inline std::vector<recipe> methods_of_any_model() {
  std::vector<recipe> found;
  for (const auto& x : policies::catalogue())
    if (!models::is_routed(x) && x.name != "pcl")
      found.push_back(x);
  return found;
}

} // namespace troupe::test
