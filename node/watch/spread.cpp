#include "node/watch/spread.hpp"

#include <algorithm>
#include <utility>

#include "node/report/quantile.hpp"

namespace troupe::node {

std::optional<spread> spread_of(std::vector<double> xs) {
  if (xs.empty())
    return std::nullopt;
  std::ranges::sort(xs);
  double sum = 0;
  for (const auto x : xs)
    sum += x;
  return spread{.mean = sum / static_cast<double>(xs.size()),
                .p10 = quantile(xs, 0.1),
                .p50 = quantile(xs, 0.5),
                .p90 = quantile(xs, 0.9),
                .worst = xs.front()};
}

std::optional<spread> spread_of_costs(std::vector<double> xs) {
  const auto most = xs.empty() ? 0 : *std::ranges::max_element(xs);
  auto all = spread_of(std::move(xs));
  if (all) {
    std::swap(all->p10, all->p90);
    all->worst = most;
  }
  return all;
}

} // namespace troupe::node
