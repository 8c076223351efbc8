#include "models/procedures/split_model.hpp"

#include <string_view>

namespace troupe::models {

namespace {

std::string_view layer_of(const tensor_spec& x) {
  const std::string_view name{x.name};
  const auto dot = name.rfind('.');
  return dot == name.npos ? name : name.substr(0, dot);
}

} // namespace

tensor_list::const_iterator head_of(const tensor_list& all) {
  auto first = all.end() - 1;
  while (first != all.begin() && layer_of(*(first - 1)) == layer_of(all.back()))
    --first;
  return first;
}

} // namespace troupe::models
