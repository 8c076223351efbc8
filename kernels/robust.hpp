#pragma once

// Merges that do not add. They keep their offers, sorted by visit by the
// caller, and so depend on the set alone. Each writes what `finish` then takes
// as a sum with total 1.

#include <cstdint>
#include <span>

#include "core/result.hpp"

namespace troupe::kernels {

/// Offers without weights, all of `out`'s size, each already multiplied by its
/// discount when it is read: value j of offer i is discounts[i] * deltas[i][j].
struct offer_set {
  std::span<const std::span<const float>> deltas;
  std::span<const double> discounts;
};

/// The median per coordinate; the mean of the middle two for an even number.
[[nodiscard]] result<void> coordinate_median(const offer_set& offers,
                                             std::span<double> out);

/// The mean per coordinate without the `trim` largest and `trim` smallest.
/// Returns `invalid_argument` unless 2 * trim < number of offers.
[[nodiscard]] result<void> trimmed_mean(const offer_set& offers,
                                        std::uint32_t trim,
                                        std::span<double> out);

/// (Multi-)Krum of Blanchard et al. (2017): the mean of the `keep` offers with
/// the smallest sum of squared distances to their n - bad - 2 nearest others;
/// ties go to the earlier offer. Returns `invalid_argument` unless n >= bad
/// + 3.
[[nodiscard]] result<void> krum(const offer_set& offers, std::uint32_t bad,
                                std::uint32_t keep, std::span<double> out);

} // namespace troupe::kernels
