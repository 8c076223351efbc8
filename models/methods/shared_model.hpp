#pragma once

// A visit to one shared model, which most methods consist of or contain.

#include <string_view>

#include "models/families.hpp"
#include "models/methods/local_loop.hpp"

namespace troupe::models {

/// What a visit to a shared model may have besides.
struct shared_visit {
  std::string_view block = model_family;
  double pull = 0; ///< `pull` / 2 |w - fetched w|^2 is added to the loss.
};

/// Trains the fetched model by the plan of the visit, and offers it.
result<trained> train_shared_model(const visit_input& x, local_problem& on,
                                   const shared_visit& how = {});

} // namespace troupe::models
