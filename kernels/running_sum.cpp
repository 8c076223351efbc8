#include "kernels/running_sum.hpp"

#include "core/assert.hpp"

namespace troupe::kernels {

void add_to_sum(std::span<const float> base, std::span<const double> added,
                std::uint64_t clients, std::vector<double>& sum,
                std::span<float> out) {
  TROUPE_ASSERT(added.size() == base.size() && out.size() == base.size());
  TROUPE_ASSERT(clients > 0);
  const auto n = static_cast<double>(clients);
  if (sum.empty())
    for (const float x : base)
      sum.push_back(static_cast<double>(x) * n);
  for (std::size_t j = 0; j < sum.size(); ++j) {
    sum[j] += added[j];
    out[j] = static_cast<float>(sum[j] / n);
  }
}

} // namespace troupe::kernels
