#pragma once

#include <optional>
#include <string>
#include <utility>

namespace troupe::node {

/// The first line that differs between two texts of `write_config`, of those
/// that a run's result depends on.
std::optional<std::pair<std::string, std::string>>
changed_line(const std::string& before, const std::string& now);

/// All lines of consequence: what makes one run another than this.
std::string lines_of_consequence(const std::string& config);

} // namespace troupe::node
