#pragma once

// What CoMiGS's baselines of two averaged experts have in common.

#include <string>
#include <vector>

#include "core/recipe.hpp"

namespace troupe::policies::methods {

/// Of the experts' factors, and of those beside attention.
std::vector<option_spec> of_averaged();

/// Everybody trains two averaged experts alone.
recipe averaged_alone(std::string name, std::string summary);

} // namespace troupe::policies::methods
