#include "models/own_validation.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "models/adapters/factor_halves.hpp"

namespace troupe::models {

std::string client_named(std::size_t k, const std::vector<std::string>& users) {
  const auto number = "client " + std::to_string(k + 1);
  return k < users.size() && !users[k].empty() ? number + " (" + users[k] + ")"
                                               : number;
}

result<void> check_own_validation(const recipe& method,
                                  const partition& clients,
                                  const std::vector<std::string>& users) {
  if (std::ranges::none_of(method.blocks, [](const block_spec& x) {
        return x.name == line_family;
      }))
    return {};
  const auto& aside = clients.own_validation;
  for (std::size_t k = 0; k < clients.train.size(); ++k)
    if (!clients.train[k].empty() && (k >= aside.size() || aside[k].empty()))
      return lacks_own_validation(method, client_named(k, users));
  return {};
}

tl::unexpected<error> lacks_own_validation(const recipe& method,
                                           const std::string& client) {
  return fail(errc::invalid_config,
              "method " + in_quotes(method.name)
                + " looks at validation rows of each client, and " + client
                + " has none; data that sets some aside would do");
}

} // namespace troupe::models
