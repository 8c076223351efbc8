#include "core/bf16.hpp"

#include <bit>

namespace troupe {

std::uint16_t to_bf16(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  constexpr std::uint32_t infinite = 0x7f80'0000;
  // Rounding would carry what is no number into what is one. Its upper half is
  // none either, but where all that says so is below: a bit is set then.
  if ((bits & 0x7fff'ffff) > infinite) {
    const auto half = bits >> 16;
    return static_cast<std::uint16_t>((half & 0x7f) == 0 ? half | 0x40 : half);
  }
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

void to_bf16(std::span<const float> from,
             std::span<std::uint16_t> to) noexcept {
  std::ranges::transform(from, to.begin(), [](float x) { return to_bf16(x); });
}

bool all_bf16(std::span<const float> xs) noexcept {
  return std::ranges::all_of(xs, [](float x) {
    return (std::bit_cast<std::uint32_t>(x) & 0xffff) == 0;
  });
}

shared_values rounded_to_bf16(const shared_values& x) {
  if (!x || x.is_bf16())
    return x;
  auto out = x;
  if (!all_bf16(*x)) {
    auto values = x.copy();
    for (auto& y : values)
      y = from_bf16(to_bf16(y));
    out = share(std::move(values));
  }
  out.is_bf16_ = true;
  return out;
}

} // namespace troupe
