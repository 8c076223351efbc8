#pragma once

// For laws over all runs of dense models by torch: this is the list of what a
// law goes over. Each method of any model with adapters composed, and each that
// attaches some with these inside the layers as well.

#include <ostream>
#include <string>
#include <vector>

#include "models/inner_setup.hpp"
#include "models/shapes.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/any_model.hpp"
#include "tests/support/torch_runs.hpp"

namespace troupe::test {

struct dense_variant {
  std::string name;
  recipe method;
  overrides how; ///< On top of `synthetic_run`.

  friend std::ostream& operator<<(std::ostream& to, const dense_variant& x) {
    return to << x.name;
  }
};

/// Whose clients look at validation rows of their own: `pcl`, and `fdlora` in
/// last visits. There are such only where a run watches them.
inline bool needs_rows_aside(const recipe& method) {
  return method.name == "pcl" || !method.finish.value.empty();
}

/// No rank is beyond a layer's: inside it would be refused.
inline overrides small_inside(const recipe& method) {
  auto how = small(method);
  how.push_back("model.factors=inside");
  if (find_option(method, "rank_min"))
    how.insert(how.end(), {"rank=3", "rank_min=1"});
  if (needs_rows_aside(method))
    how.insert(how.end(), {"data.validation=0.2", "stop.metric=per_client.mean",
                           "stop.patience=100"});
  return how;
}

/// Those whose visits do something: one only looks at what is there.
inline std::vector<dense_variant> inside_variants() {
  std::vector<dense_variant> all;
  for (const auto& x : policies::catalogue())
    if (models::has_adapters(x) && !models::is_routed(x) && x.offers)
      all.push_back({x.name + " inside", x, small_inside(x)});
  return all;
}

inline std::vector<dense_variant> dense_variants() {
  auto all = inside_variants();
  for (const auto& x : methods_of_any_model())
    all.push_back({x.name, x, small(x)});
  return all;
}

} // namespace troupe::test
