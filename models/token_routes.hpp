#pragma once

// Where tokens of a client's own test rows go in its own model: known at home,
// and nowhere else.

#include <cstdint>
#include <map>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "models/local_site.hpp"
#include "models/objective.hpp"
#include "models/trainer.hpp"

namespace troupe::models {

/// Of one client.
struct token_routes {
  std::uint32_t experts = 0;
  std::uint64_t steps = 0; ///< Of its experts, so far.
  /// Over all its test rows, per layer: the mean score of expert 0 among all,
  /// which is the generalist where there is one, and its part of first places.
  std::vector<double> mean_of_first, first_places;
  /// Of its first test row: first choice per layer and token. [layers x tokens]
  std::vector<std::uint32_t> window;
};

/// Whether clients' models have routers.
bool routes_tokens(const local_task& task) noexcept;

/// Of each client that has test rows, and in its model a router, as it would
/// use these versions itself. @param model is made live, again and again
/// @pre routes_tokens
[[nodiscard]] result<std::map<client_id, token_routes>>
routes_at_home(const evaluation_input& x, const local_site& at,
               objective& model);

} // namespace troupe::models
