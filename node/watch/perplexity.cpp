#include "node/watch/perplexity.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

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

std::optional<double>
pooled_perplexity(const std::map<client_id, models::scores>& xs) {
  models::scores all;
  for (const auto& [client, x] : xs)
    all += x;
  return perplexity_of(all);
}

void put_perplexities(models::evaluated& to, double at,
                      const models::evaluated* before) {
  const std::string name = "clients_perplexity";
  const auto least = name + "_least";
  const auto least_at = least + "_at";
  auto& results = to.method_results;
  if (before)
    for (const auto& key : {least, least_at})
      if (const auto found = before->method_results.find(key);
          found != before->method_results.end())
        results.insert(*found);
  const auto mean = mean_perplexity(to.per_client);
  if (!mean)
    return;
  for (const auto& [client, x] : to.per_client)
    if (const auto own = perplexity_of(x))
      results[name + '.' + std::to_string(client.value)] = *own;
  results[name + "_pooled"] = *pooled_perplexity(to.per_client);
  const auto found = results.find(least);
  if (std::isfinite(*mean)
      && (found == results.end() || *mean < found->second)) {
    results[least] = *mean;
    results[least_at] = at;
  }
}

} // namespace troupe::node
