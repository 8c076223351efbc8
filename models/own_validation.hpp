#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/recipe.hpp"
#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

/// Of a client, from 0: "client 3", and who that is where somebody knows.
std::string client_named(std::size_t k, const std::vector<std::string>& users);

/// Refuses clients who train and have no validation rows of their own, where
/// the recipe's visits look at these: its clients have lines of their own.
/// Returns `invalid_config`, with the first of them.
result<void> check_own_validation(const recipe& method,
                                  const partition& clients,
                                  const std::vector<std::string>& users = {});

/// That this client has none.
tl::unexpected<error> lacks_own_validation(const recipe& method,
                                           const std::string& client);

} // namespace troupe::models
