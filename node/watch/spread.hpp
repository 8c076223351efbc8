#pragma once

#include <optional>
#include <vector>

namespace troupe::node {

/// How a score is spread over clients. A tenth of them fare worse than `p10`.
struct spread {
  double mean = 0;
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
  double worst = 0;
};

/// None without values. Deciles are interpolated between neighbours.
std::optional<spread> spread_of(std::vector<double> xs);

/// Likewise, of what is the better the less it is.
std::optional<spread> spread_of_costs(std::vector<double> xs);

} // namespace troupe::node
