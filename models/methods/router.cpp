#include "models/methods/router.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>

namespace troupe::models {

std::vector<double> softmax(std::span<const double> logits) {
  const auto most = std::ranges::max(logits);
  std::vector<double> result;
  double sum = 0;
  for (const auto x : logits)
    sum += result.emplace_back(std::exp(x - most));
  for (auto& x : result)
    x /= sum;
  return result;
}

std::vector<double> logit_slopes(std::span<const double> shares,
                                 std::span<const double> share_slopes) {
  double mean = 0;
  for (std::size_t c = 0; c < shares.size(); ++c)
    mean += shares[c] * share_slopes[c];
  std::vector<double> result;
  for (std::size_t c = 0; c < shares.size(); ++c)
    result.push_back(shares[c] * (share_slopes[c] - mean));
  return result;
}

double entropy(std::span<const double> shares) {
  double sum = 0;
  for (const auto x : shares)
    sum -= x > 0 ? x * std::log(x) : 0;
  return sum;
}

bool recovers_groups(const shares_by_client& x, std::size_t groups) {
  std::map<std::size_t, std::size_t> of_group;
  std::set<std::size_t> taken;
  for (const auto& [client, shares] : x) {
    const auto chosen = static_cast<std::size_t>(
      std::ranges::max_element(shares) - shares.begin());
    const auto [at, fresh] =
      of_group.emplace((client.value - 1) % groups, chosen);
    if (at->second != chosen || (fresh && !taken.insert(chosen).second))
      return false;
  }
  return true;
}

double mismatch_with_groups(const shares_by_client& x, std::size_t groups) {
  std::map<std::size_t, std::vector<double>> given; // By group and instance.
  std::vector<double> all;                          // By instance.
  std::map<std::size_t, double> members;
  for (const auto& [client, shares] : x) {
    const auto group = (client.value - 1) % groups;
    ++members[group];
    given[group].resize(shares.size());
    all.resize(shares.size());
    for (std::size_t c = 0; c < shares.size(); ++c) {
      given[group][c] += shares[c];
      all[c] += shares[c];
    }
  }
  double sum = 0;
  for (const auto& [group, masses] : given) {
    const auto c = static_cast<std::size_t>(std::ranges::max_element(masses)
                                            - masses.begin());
    for (const auto& [client, shares] : x) {
      const bool member = (client.value - 1) % groups == group;
      sum += std::abs(shares[c] / all[c] - (member ? 1 / members[group] : 0));
    }
  }
  return given.empty() ? 0 : sum / static_cast<double>(given.size());
}

std::map<std::string, double> router_figures(const shares_by_client& x,
                                             std::size_t groups) {
  if (x.empty())
    return {};
  double sum = 0;
  for (const auto& [client, own] : x)
    sum += entropy(own);
  std::map<std::string, double> out{
    {"router_entropy", sum / static_cast<double>(x.size())}};
  if (groups == 0)
    return out;
  out["recovered"] = recovers_groups(x, groups) ? 1 : 0;
  out["router_mismatch"] = mismatch_with_groups(x, groups);
  return out;
}

} // namespace troupe::models
