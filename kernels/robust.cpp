#include "kernels/robust.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/cpu/loops.hpp"

namespace troupe::kernels {

namespace {

/// So many doubles of a tile stay in the second-level cache.
constexpr std::size_t column_values = 16 * 1024;

/// A run of values whose squares are summed before the next pair of offers.
constexpr std::size_t distance_tile = norm_block;

/// Value j of offer i. Adding zero makes one zero of the two, so that the order
/// of equal values cannot be seen.
double value_of(const offer_set& offers, std::size_t i, std::size_t j) {
  return offers.discounts[i] * static_cast<double>(offers.deltas[i][j]) + 0.0;
}

result<void> check_offers(const offer_set& offers, std::size_t size) {
  const auto n = offers.deltas.size();
  if (n == 0 || offers.discounts.size() != n)
    return fail(errc::invalid_argument,
                std::to_string(n) + " offers with "
                  + std::to_string(offers.discounts.size())
                  + " discounts; each of at least one offer needs one");
  for (std::size_t i = 0; i < n; ++i) {
    const auto delta = offers.deltas[i];
    if (delta.size() != size)
      return fail(errc::invalid_argument, "offer " + std::to_string(i) + " has "
                                            + std::to_string(delta.size())
                                            + " values, the output has "
                                            + std::to_string(size));
    // What is not finite has no place in an order.
    if (loops::outside(f32_reader{delta.data()}, offers.discounts[i],
                       std::numeric_limits<double>::max(), size)
        > 0)
      return fail(errc::malformed_values,
                  "offer " + std::to_string(i)
                    + " has values that are not finite");
  }
  return {};
}

/// Calls f(j, column) for each j with the values of all offers, in ascending
/// order. A tile of columns is gathered row by row, as the offers lie in
/// memory.
template <class F>
void for_each_sorted_column(const offer_set& offers, std::size_t size, F f) {
  const auto n = offers.deltas.size();
  const auto width = std::clamp<std::size_t>(column_values / n, 16, 1024);
  std::vector<double> columns(n * std::min(width, size));
  for (std::size_t first = 0; first < size; first += width) {
    const auto count = std::min(width, size - first);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < count; ++j)
        columns[j * n + i] = value_of(offers, i, first + j);
    for (std::size_t j = 0; j < count; ++j) {
      const auto column = std::span{columns}.subspan(j * n, n);
      std::ranges::sort(column);
      f(first + j, column);
    }
  }
}

/// Squared distances between all pairs, n by n.
std::vector<double> distances_of(const offer_set& offers, std::size_t size) {
  const auto n = offers.deltas.size();
  std::vector<double> result(n * n);
  for (std::size_t first = 0; first < size; first += distance_tile) {
    const auto count = std::min(distance_tile, size - first);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = a + 1; b < n; ++b)
        result[a * n + b] += loops::squared_distance(
          offers.deltas[a].data() + first, offers.discounts[a],
          offers.deltas[b].data() + first, offers.discounts[b], count);
  }
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b)
      result[b * n + a] = result[a * n + b];
  return result;
}

/// The sum of the `nearest` smallest distances of each offer to another one.
std::vector<double> krum_scores(const offer_set& offers, std::size_t nearest,
                                std::size_t size) {
  const auto n = offers.deltas.size();
  const auto distances = distances_of(offers, size);
  std::vector<double> result(n), others;
  for (std::size_t a = 0; a < n; ++a) {
    others.clear();
    for (std::size_t b = 0; b < n; ++b)
      if (b != a)
        others.push_back(distances[a * n + b]);
    std::ranges::sort(others);
    for (std::size_t k = 0; k < nearest; ++k)
      result[a] += others[k];
  }
  return result;
}

} // namespace

result<void> coordinate_median(const offer_set& offers, std::span<double> out) {
  if (auto ok = check_offers(offers, out.size()); !ok)
    return ok;
  for_each_sorted_column(offers, out.size(), [=](auto j, auto column) {
    const auto middle = column.size() / 2;
    out[j] = column.size() % 2 == 1 ? column[middle]
                                    : (column[middle - 1] + column[middle]) / 2;
  });
  return {};
}

result<void> trimmed_mean(const offer_set& offers, std::uint32_t trim,
                          std::span<double> out) {
  if (auto ok = check_offers(offers, out.size()); !ok)
    return ok;
  const auto n = offers.deltas.size();
  if (2 * std::size_t{trim} >= n)
    return fail(errc::invalid_argument, "trimming " + std::to_string(trim)
                                          + " on each side leaves none of "
                                          + std::to_string(n) + " offers");
  const auto kept = n - 2 * std::size_t{trim};
  for_each_sorted_column(offers, out.size(), [=](auto j, auto column) {
    const auto inner = column.subspan(trim, kept);
    const auto sum = std::accumulate(inner.begin(), inner.end(), 0.0);
    out[j] = sum / static_cast<double>(kept);
  });
  return {};
}

result<void> krum(const offer_set& offers, std::uint32_t bad,
                  std::uint32_t keep, std::span<double> out) {
  if (auto ok = check_offers(offers, out.size()); !ok)
    return ok;
  const auto n = offers.deltas.size();
  const auto least = 2 * std::size_t{bad} + 3;
  if (n < least)
    return fail(errc::invalid_argument, "Krum with " + std::to_string(bad)
                                          + " bad offers needs at least "
                                          + std::to_string(least) + ", found "
                                          + std::to_string(n));
  if (keep == 0 || keep > n)
    return fail(errc::invalid_argument,
                "Krum keeps from 1 to " + std::to_string(n) + " offers, found "
                  + std::to_string(keep));
  const auto scores = krum_scores(offers, n - bad - 2, out.size());
  std::vector<std::size_t> chosen(n);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  std::ranges::stable_sort(chosen, {}, [&](auto i) { return scores[i]; });
  chosen.resize(keep);
  std::ranges::sort(
    chosen); // Added in the order of the set, not of the scores.
  for (std::size_t j = 0; j < out.size(); ++j) {
    double sum = 0;
    for (const auto i : chosen)
      sum += value_of(offers, i, j);
    out[j] = sum / static_cast<double>(keep);
  }
  return {};
}

} // namespace troupe::kernels
