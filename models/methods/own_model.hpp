#pragma once

#include "models/methods/local_loop.hpp"

namespace troupe::models {

/// Trains the client's own model for `steps` steps and keeps it in `next`. At
/// the client's first visit it begins as the fetched shared model. `pull` draws
/// each step towards the fetched model, by pull * (v - fetched w). Returns the
/// mean loss.
result<double> train_own_model(const visit_input& x, local_problem& on,
                               std::uint64_t steps, double pull,
                               client_state& next);

} // namespace troupe::models
