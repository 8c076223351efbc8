#include "models/methods/built_in.hpp"
#include "models/methods/shared_model.hpp"

namespace troupe::models {

result<trained> sgd(const visit_input& x, local_problem& on) {
  return train_shared_model(x, on);
}

result<trained> proximal_sgd(const visit_input& x, local_problem& on) {
  return train_shared_model(x, on, {.pull = option_or(on.how, "proximal", 0)});
}

} // namespace troupe::models
