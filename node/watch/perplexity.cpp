#include "node/watch/perplexity.hpp"

#include <algorithm>
#include <cstddef>

namespace troupe::node {

std::optional<double> perplexity_of(const models::scores& x) {
  if (x.count == 0)
    return std::nullopt;
  return x.perplexity();
}

std::vector<double>
perplexities_of(const std::map<client_id, models::scores>& xs) {
  std::vector<double> out;
  for (const auto& [client, x] : xs)
    if (const auto own = perplexity_of(x))
      out.push_back(*own);
  std::ranges::sort(out);
  return out;
}

std::optional<double>
mean_perplexity(const std::map<client_id, models::scores>& xs) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [client, x] : xs)
    if (const auto own = perplexity_of(x)) {
      sum += *own;
      ++count;
    }
  if (count == 0)
    return std::nullopt;
  return sum / static_cast<double>(count);
}

} // namespace troupe::node
