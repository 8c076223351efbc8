#pragma once

// Products of floats, summed in lanes: one order of additions whatever the
// width of the vectors.

#include <cstddef>
#include <cstring>

#include "kernels/cpu/clones.hpp"
#include "kernels/elementwise.hpp"

namespace troupe::kernels::loops {

/// Lanes as a type of the compiler's, since it keeps an array in memory.
using dot_vector [[gnu::vector_size(dot_lanes * sizeof(float))]] = float;

TROUPE_INLINE void add_products(const float* a, const dot_vector& b,
                                dot_vector& sum) {
  dot_vector x;
  std::memcpy(&x, a, sizeof x);
  sum += x * b;
}

TROUPE_INLINE float total(const float* a, const float* b, std::size_t left,
                          dot_vector& sum) {
  for (std::size_t lane = 0; lane < left; ++lane)
    sum[lane] += a[lane] * b[lane];
  for (auto half = dot_lanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane)
      sum[lane] += sum[lane + half];
  return sum[0];
}

/// The products of `b` with rows of `a`: four together, since each sum waits
/// for itself, or one.
template <std::size_t Rows>
TROUPE_INLINE void dot(const float* a, const float* b, std::size_t n,
                       float* out) {
  static_assert(Rows == 1 || Rows == 4);
  dot_vector s0{}, s1{}, s2{}, s3{};
  std::size_t j = 0;
  for (; j + dot_lanes <= n; j += dot_lanes) {
    dot_vector y;
    std::memcpy(&y, b + j, sizeof y);
    add_products(a + j, y, s0);
    if constexpr (Rows == 4) {
      add_products(a + n + j, y, s1);
      add_products(a + 2 * n + j, y, s2);
      add_products(a + 3 * n + j, y, s3);
    }
  }
  out[0] = total(a + j, b + j, n - j, s0);
  if constexpr (Rows == 4) {
    out[1] = total(a + n + j, b + j, n - j, s1);
    out[2] = total(a + 2 * n + j, b + j, n - j, s2);
    out[3] = total(a + 3 * n + j, b + j, n - j, s3);
  }
}

} // namespace troupe::kernels::loops
