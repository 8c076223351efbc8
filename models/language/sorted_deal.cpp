#include "models/language/sorted_deal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/assert.hpp"
#include "core/random.hpp"

namespace troupe::models {

std::vector<std::vector<std::uint32_t>>
deal_sorted(std::span<const std::uint32_t> labels, const sorted_deal& how) {
  TROUPE_ASSERT(how.clients > 0 && how.sorted_fraction >= 0
                && how.sorted_fraction <= 1);
  std::vector<std::uint32_t> rows(labels.size());
  std::iota(rows.begin(), rows.end(), 0u);
  random_stream{how.seed}.shuffle(rows);
  const auto mixed = static_cast<std::size_t>(
    std::lround((1 - how.sorted_fraction) * static_cast<double>(rows.size())));
  const std::span all{rows};
  const auto rest = all.subspan(mixed);
  std::ranges::sort(rest, [labels](std::uint32_t x, std::uint32_t y) {
    return labels[x] != labels[y] ? labels[x] < labels[y] : x < y;
  });
  std::vector<std::vector<std::uint32_t>> out(how.clients);
  for (const auto part : {all.first(mixed), rest})
    for (std::size_t k = 0; k < how.clients; ++k) {
      const auto begin = k * part.size() / how.clients;
      const auto end = (k + 1) * part.size() / how.clients;
      out[k].insert(out[k].end(),
                    part.begin() + static_cast<std::ptrdiff_t>(begin),
                    part.begin() + static_cast<std::ptrdiff_t>(end));
    }
  for (auto& x : out)
    std::ranges::sort(x);
  return out;
}

} // namespace troupe::models
