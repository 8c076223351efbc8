#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace troupe::node {

/// Interpolated between neighbours. @pre !sorted.empty(), 0 <= share <= 1
inline double quantile(std::span<const double> sorted, double share) {
  const auto place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above],
                   place - static_cast<double>(below));
}

} // namespace troupe::node
