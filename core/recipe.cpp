#include "core/recipe.hpp"

#include <algorithm>

namespace troupe {

const option_spec* find_option(const recipe& method, std::string_view name) {
  const auto at = std::ranges::find(method.options, name, &option_spec::name);
  return at == method.options.end() ? nullptr : &*at;
}

options with_defaults(const recipe& method, options said) {
  for (const auto& x : method.options)
    said.try_emplace(x.name, x.value);
  return said;
}

} // namespace troupe
