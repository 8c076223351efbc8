#pragma once

// For laws over all methods of the catalogue: each on small noisy batches, with
// a short one at the end of an epoch.

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalogue.hpp"
#include "tests/support/any_model.hpp"
#include "tests/support/quadratic_federation.hpp"

namespace troupe::test {

/// Those whose visits do something: some only look at what is there.
inline std::vector<std::string> all_methods() {
  std::vector<std::string> names;
  for (const auto& x : methods_of_any_model())
    if (x.offers || x.personal)
      names.push_back(x.name);
  return names;
}

/// With the options that it begins with. @param rows of each client, 10 at most
inline quadratic_setting noisy_setting(const std::string& method,
                                       std::uint32_t epochs,
                                       const std::vector<std::size_t>& rows) {
  quadratic_setting x{.method = *policies::find_recipe(method),
                      .how = {.local_epochs = epochs,
                              .batch_size = 4,
                              .learning_rate = 0.05,
                              .method = {}},
                      .problem = {.seed = 5,
                                  .dimension = 6,
                                  .clients = rows.size(),
                                  .rows_per_client = 10,
                                  .noise = 0.5},
                      .rows = rows};
  x.how.method = with_defaults(x.method);
  return x;
}

/// All clients' next visits, after their choice if they have one.
inline std::vector<models::visit_input> next_visits(quadratic_federation& x) {
  std::vector<models::visit_input> all;
  for (std::uint64_t k = 1; k <= x.problem().how.clients; ++k) {
    all.push_back(x.visit(k, 100 + k));
    const auto chosen = x.trainer().choose(all.back());
    EXPECT_TRUE(chosen) << chosen.error().context;
    all.back().chosen = chosen->chosen;
  }
  return all;
}

} // namespace troupe::test
