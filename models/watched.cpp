#include "models/watched.hpp"

#include <algorithm>
#include <limits>

namespace troupe::models {

double metric_of(watched what, const evaluated& x) {
  if (what == watched::accuracy)
    return x.validation.accuracy();
  if (what == watched::loss)
    return x.validation.mean_loss();
  if (x.own_validation.empty())
    return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  auto worst = std::numeric_limits<double>::infinity();
  for (const auto& [client, own] : x.own_validation) {
    sum +=
      what == watched::clients_perplexity ? own.perplexity() : own.accuracy();
    worst = std::min(worst, own.accuracy());
  }
  return what == watched::clients_worst
           ? worst
           : sum / static_cast<double>(x.own_validation.size());
}

} // namespace troupe::models
