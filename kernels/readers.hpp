#pragma once

// How code that is the same for all formats of the wire gets at a term's
// values.

#include "kernels/elementwise.hpp"

namespace troupe::kernels {

inline std::size_t size_of(const term& x) noexcept {
  return x.values.size();
}

inline std::size_t size_of(const f16_term& x) noexcept {
  return x.from.bits.size();
}

inline std::size_t size_of(const int8_term& x) noexcept {
  return x.from.values.size();
}

inline f32_reader reader_of(const term& x, std::size_t first = 0) noexcept {
  return {x.values.data() + first};
}

inline f16_reader reader_of(const f16_term& x, std::size_t first = 0) noexcept {
  return {x.from.bits.data() + first};
}

inline int8_reader reader_of(const int8_term& x,
                             std::size_t first = 0) noexcept {
  return {x.from.values.data() + first, static_cast<double>(x.from.scale)};
}

} // namespace troupe::kernels
