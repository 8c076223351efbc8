#pragma once

// What the two parts of a recipe's check have in common: check_recipe.cpp, and
// check_options.cpp.

#include <set>
#include <string>
#include <vector>

#include "core/recipe.hpp"
#include "core/result.hpp"
#include "core/text.hpp"

namespace troupe::policies {

/// Says what is wrong with one recipe.
struct recipe_complaints {
  const recipe& method;

  result<void> refuse(const std::string& what) const {
    return fail(errc::invalid_config,
                "recipe " + in_quotes(method.name) + ": " + what);
  }

  template <class Named>
  result<void> check_names(const std::vector<Named>& xs,
                           const std::string& what) const {
    std::set<std::string> seen;
    for (const auto& x : xs)
      if (x.name.empty() || !seen.insert(x.name).second)
        return refuse("two " + what + "s are named " + in_quotes(x.name)
                      + ", or one has no name; each needs one of its own");
    return {};
  }
};

/// Returns `invalid_config` with the first of its options that makes no sense,
/// or with what one of them says otherwise than the recipe does.
[[nodiscard]] result<void> check_options(const recipe& method);

} // namespace troupe::policies
