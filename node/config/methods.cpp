#include "node/config/config.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

const method_list& all_methods() {
  static const method_list instance = [] {
    method_list result;
    for (const auto& x : policies::catalogue())
      result.built.push_back(&x);
    for (const auto x : policies::announced_methods())
      result.planned.emplace_back(x);
    return result;
  }();
  return instance;
}

} // namespace troupe::node
