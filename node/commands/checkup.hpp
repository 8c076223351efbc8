#pragma once

#include <filesystem>
#include <vector>

#include "actors/record/examination.hpp"
#include "core/result.hpp"

namespace troupe::node {

/// Looks at a run's folder, or at that of a joining process, which nobody uses,
/// and with `mends` at what it makes of it. Fails where it is neither.
[[nodiscard]] result<std::vector<actors::remark>>
check_up(const std::filesystem::path& folder, bool mends);

} // namespace troupe::node
