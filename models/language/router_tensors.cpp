#include "models/language/router_tensors.hpp"

#include <string>

namespace troupe::models {

tensor_list router_tensors(const language_spec& of,
                           const routing_options& how) {
  tensor_list all;
  if (how.experts < 2 || how.even)
    return all;
  for (std::uint32_t layer = 0; layer < of.layers; ++layer) {
    const auto name = std::to_string(layer);
    if (how.gate == gate_kind::linear) {
      all.push_back({name, {how.experts, of.width}});
      if (how.bias)
        all.push_back({name + ".bias", {how.experts}});
      continue;
    }
    all.push_back({name + ".inner", {how.experts, of.width}});
    all.push_back({name + ".outer", {how.experts, how.experts}});
  }
  return all;
}

} // namespace troupe::models
