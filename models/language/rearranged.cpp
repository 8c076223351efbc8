#include "models/language/rearranged.hpp"

#include <algorithm>
#include <cstring>

#include "core/assert.hpp"
#include "models/language/stored_type.hpp"

namespace troupe::models {

std::vector<std::byte> transposed(std::span<const std::byte> from,
                                  const turned_matrix& as) {
  const auto rows = as.rows, columns = as.columns, value_bytes = as.value_bytes;
  TROUPE_ASSERT(from.size() == rows * columns * value_bytes);
  std::vector<std::byte> to(from.size());
  // Squares of a few cache lines on either side: whole columns are strewn over
  // more of them than a cache has.
  constexpr std::size_t square = 16;
  for (std::size_t r0 = 0; r0 < rows; r0 += square)
    for (std::size_t c0 = 0; c0 < columns; c0 += square)
      for (auto c = c0; c < std::min(columns, c0 + square); ++c)
        for (auto r = r0; r < std::min(rows, r0 + square); ++r)
          std::memcpy(to.data() + (r * columns + c) * value_bytes,
                      from.data() + (c * rows + r) * value_bytes, value_bytes);
  return to;
}

std::vector<std::byte> in_halves(std::span<const std::byte> from,
                                 const paired_rows& as) {
  const auto heads = as.heads, rows = as.rows;
  TROUPE_ASSERT(heads > 0 && rows % (2 * heads) == 0
                && from.size() % rows == 0);
  std::vector<std::byte> to(from.size());
  const auto row_bytes = from.size() / rows;
  const auto half = rows / heads / 2;
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t i = 0; i < half; ++i)
      for (std::size_t j = 0; j < 2; ++j)
        std::memcpy(to.data() + (2 * h * half + j * half + i) * row_bytes,
                    from.data() + (2 * h * half + 2 * i + j) * row_bytes,
                    row_bytes);
  return to;
}

rearranged_bytes::rearranged_bytes(const stored_tensor& x,
                                   const tensor_source& source)
  : stored_(x.bytes) {
  const auto extent = [&](std::size_t i) {
    return static_cast<std::size_t>(x.shape[i]);
  };
  if (source.transposed && x.shape.size() == 2) {
    copy_ = transposed(x.bytes, {.rows = extent(1),
                                 .columns = extent(0),
                                 .value_bytes = facts_of(x.type).block_bytes});
    is_copy_ = true;
  } else if (source.interleaved > 0) {
    copy_ =
      in_halves(x.bytes, {.heads = source.interleaved, .rows = extent(0)});
    is_copy_ = true;
  }
}

} // namespace troupe::models
