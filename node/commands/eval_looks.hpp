#pragma once

#include <string>
#include <vector>

#include "core/recipe.hpp"
#include "node/commands/command.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// What `troupe eval RUN` has to look at in a run: "--matrix", …; may be none.
std::vector<std::string> looks_at(const experiment& x, const recipe& method);

/// What is said where nobody said what to look at in a run's folder.
failure nothing_asked_of(const std::string& folder);

} // namespace troupe::node
