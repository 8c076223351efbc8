#include "models/optimisers.hpp"

#include "models/methods/local_method.hpp"

namespace troupe::models {

result<void> check_optimiser(const recipe& method,
                             const training_options& how) {
  const auto& all = local_methods();
  const auto check = [&](const procedure_name& x) {
    const auto found = all.find(x.value);
    return found != all.end() && found->second.needs
             ? found->second.needs(method, how)
             : result<void>{};
  };
  for (const auto& role : method.roles)
    if (auto ok = check(role.procedure); !ok)
      return ok;
  return check(method.finish);
}

} // namespace troupe::models
