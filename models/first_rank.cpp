#include "models/first_rank.hpp"

#include <algorithm>
#include <string>

namespace troupe::models {

std::size_t first_rank(const options& said, const ranked_client& of) {
  const auto value = [&](const std::string& name) {
    const auto found = said.find(name);
    return found == said.end() ? 0 : found->second;
  };
  const auto full = value("rank");
  if (const auto each = value("rank_per_expert"); each > 0)
    return static_cast<std::size_t>(
      std::min(each * static_cast<double>(of.experts), full));
  const auto least = value("rank_min");
  const auto first = value("rank_first");
  const auto last = value("rank_last");
  const auto place = static_cast<double>(of.before);
  const auto count = static_cast<double>(of.clients);
  const auto rank =
    first > 0 && last > 0
      ? first + (last - first) * place / std::max(count - 1, 1.0)
      : least + (full - least) * place / std::max(count, 1.0);
  return static_cast<std::size_t>(std::clamp(rank, 1.0, std::max(full, 1.0)));
}

} // namespace troupe::models
