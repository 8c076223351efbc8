#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The candidate that needs the fewest edits to become `name`, which may be the
/// last of a candidate's parts between dots, whatever the case of its letters;
/// empty if none is near, and for
/// names and of candidates that are very long.
std::string nearest(std::string_view name,
                    const std::vector<std::string>& candidates);

} // namespace troupe
