#pragma once

// How many experts the blocks of a client's model have.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/recipe.hpp"
#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/inner_setup.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// As [training] says them, one entry for each client by turns; empty: nobody
/// says, or the method has none. Returns `invalid_config` where there are more
/// than the method can have, or ranks by them than it has, memory does not hold
/// one, or a client whose routers learn from rows that are set aside has none
/// of these. @param users who clients are, for a refusal
[[nodiscard]] result<std::vector<std::uint32_t>>
experts_for(const experiment& x, const recipe& method,
            const std::optional<models::inner_plans>& inside,
            const models::partition& clients,
            const std::vector<std::string>& users = {});

/// Says so where nobody chooses, since each client has one expert. Empty: some
/// have more, or nobody knows. @param experts those of `experts_for`
std::string about_routers(const experiment& x, const recipe& method,
                          const std::vector<std::uint32_t>& experts);

} // namespace troupe::node
