// The loops of products of low rank beside a layer's. What goes by fours is
// summed in the same order as one by one.

#include "kernels/cpu/clones.hpp"
#include "kernels/cpu/dot.hpp"
#include "kernels/cpu/loops.hpp"

namespace troupe::kernels::loops {

TROUPE_CLONES void products(const float* a, std::size_t count, std::size_t n,
                            const float* x, float* out) {
  std::size_t q = 0;
  for (; q + 4 <= count; q += 4)
    dot<4>(a + q * n, x, n, out + q);
  for (; q < count; ++q)
    dot<1>(a + q * n, x, n, out + q);
}

TROUPE_CLONES void add_rows(const float* __restrict a,
                            const float* __restrict factors, std::size_t count,
                            std::size_t n, float* __restrict to) {
  std::size_t q = 0;
  for (; q + 4 <= count; q += 4) {
    const float f0 = factors[q], f1 = factors[q + 1], f2 = factors[q + 2],
                f3 = factors[q + 3];
    const auto* row = a + q * n;
    for (std::size_t j = 0; j < n; ++j)
      to[j] = to[j] + f0 * row[j] + f1 * row[n + j] + f2 * row[2 * n + j]
              + f3 * row[3 * n + j];
  }
  for (; q < count; ++q) {
    const auto f = factors[q];
    const auto* row = a + q * n;
    for (std::size_t j = 0; j < n; ++j)
      to[j] += f * row[j];
  }
}

TROUPE_CLONES void add_outer(const float* __restrict factors,
                             const float* __restrict x, std::size_t rows,
                             std::size_t count, std::size_t n,
                             float* __restrict a) {
  std::size_t r = 0;
  for (; r + 4 <= rows; r += 4)
    for (std::size_t q = 0; q < count; ++q) {
      const auto* f = factors + r * count + q;
      const float f0 = f[0], f1 = f[count], f2 = f[2 * count],
                  f3 = f[3 * count];
      const auto* from = x + r * n;
      auto* to = a + q * n;
      for (std::size_t j = 0; j < n; ++j)
        to[j] = to[j] + f0 * from[j] + f1 * from[n + j] + f2 * from[2 * n + j]
                + f3 * from[3 * n + j];
    }
  for (; r < rows; ++r)
    for (std::size_t q = 0; q < count; ++q) {
      const auto f = factors[r * count + q];
      const auto* from = x + r * n;
      auto* to = a + q * n;
      for (std::size_t j = 0; j < n; ++j)
        to[j] += f * from[j];
    }
}

} // namespace troupe::kernels::loops
