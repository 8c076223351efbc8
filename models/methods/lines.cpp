#include "models/methods/lines.hpp"

#include "models/methods/router.hpp"

namespace troupe::models {

std::vector<double> softmax_of_less(std::span<const double> xs) {
  if (xs.empty())
    return {};
  std::vector<double> less;
  for (const auto x : xs)
    less.push_back(-x);
  return softmax(less);
}

std::vector<std::uint32_t> spread_rows(std::span<const std::uint32_t> rows,
                                       std::size_t most) {
  if (most == 0 || rows.size() <= most)
    return {rows.begin(), rows.end()};
  std::vector<std::uint32_t> result(most);
  for (std::size_t i = 0; i < most; ++i)
    result[i] = rows[i * rows.size() / most];
  return result;
}

} // namespace troupe::models
