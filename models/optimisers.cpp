#include "models/optimisers.hpp"

#include "models/methods/local_method.hpp"

namespace troupe::models {

result<void> check_optimiser(const recipe& method,
                             const training_options& how) {
  const auto& all = local_methods();
  for (const auto& role : method.roles)
    if (const auto found = all.find(role.procedure.value);
        found != all.end() && found->second.needs)
      if (auto ok = found->second.needs(method, how); !ok)
        return ok;
  return {};
}

} // namespace troupe::models
