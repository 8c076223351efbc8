#include "models/methods/split_model.hpp"

#include "models/adapters/layer_names.hpp"

namespace troupe::models {

tensor_list::const_iterator head_of(const tensor_list& all) {
  auto first = all.end() - 1;
  const auto last = layer_of(all.back().name);
  while (first != all.begin() && layer_of((first - 1)->name) == last)
    --first;
  return first;
}

} // namespace troupe::models
