#include "models/adapters/head_vectors.hpp"

#include <algorithm>
#include <cstddef>

#include "models/labels.hpp"

namespace troupe::models {

namespace {

bool is_of_head(const tensor_spec& x) {
  return x.name.starts_with(head_prefix);
}

} // namespace

bool has_head(const tensor_list& model) {
  return std::ranges::any_of(model, is_of_head);
}

void add_head(const tensor_list& model, adapter_plan& to) {
  std::size_t at = 0;
  for (const auto& x : model) {
    if (is_of_head(x)) {
      to.vectors.push_back(
        {.at = at, .size = x.size(), .in_adapter = to.size()});
      to.tensors.push_back(x);
    }
    at += x.size();
  }
}

} // namespace troupe::models
