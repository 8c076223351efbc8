#pragma once

#include <cstdint>

namespace troupe::kernels {

/// The fixed grid on which a merge adds, a constant of the block's layout. Each
/// product is rounded to a multiple of `step()` *before* it is added. Such
/// multiples and all their sums within the range are doubles without a rounding
/// error, so neither order nor tiling nor the number of calls changes a bit of
/// a sum.
struct grid {
  int fraction_bits = 30;         ///< The S of the design: a step is 2^-S.
  std::uint32_t terms_max = 4096; ///< Most terms in one sum; at least 2.

  constexpr double step() const noexcept {
    return power_of_two(-fraction_bits);
  }

  /// A double of this size has no room for digits finer than a step: adding it
  /// rounds to the grid, subtracting it leaves what was rounded.
  constexpr double magic() const noexcept {
    return 1.5 * power_of_two(52 - fraction_bits);
  }

  /// The largest product. It is a limit per term, so whether an offer is
  /// malformed does not depend on the others, and `terms_max` of them still add
  /// up exactly.
  constexpr double product_max() const noexcept {
    return power_of_two(52 - fraction_bits) / terms_max;
  }

  /// Rounds to the grid. @pre |x| <= product_max()
  constexpr double snap(double x) const noexcept {
    return (x + magic()) - magic();
  }

  friend bool operator==(const grid&, const grid&) = default;

private:
  static constexpr double power_of_two(int exponent) noexcept {
    double x = 1;
    for (; exponent > 0; --exponent)
      x *= 2;
    for (; exponent < 0; ++exponent)
      x /= 2;
    return x;
  }
};

/// The finest grid on which as many products of a weight up to `weight_max` and
/// a value up to `delta_max` add up exactly as there are terms, 4,096 at least.
/// All three are rounded up to powers of two.
constexpr grid grid_for(double weight_max, double delta_max,
                        std::uint64_t terms = 0) noexcept {
  grid result{.fraction_bits = 40};
  for (double x = 1; x < weight_max; x *= 2)
    --result.fraction_bits;
  for (double x = 1; x < delta_max; x *= 2)
    --result.fraction_bits;
  for (; result.terms_max < terms; result.terms_max *= 2)
    --result.fraction_bits;
  return result;
}

static_assert(grid{}.product_max() == 1024);
static_assert(grid{.fraction_bits = 1}.snap(0.7) == 0.5);
static_assert(grid_for(128, 8) == grid{});
static_assert(grid_for(128, 8, 5000).terms_max == 8192);
static_assert(grid_for(128, 8, 5000).product_max() == 1024);

} // namespace troupe::kernels
