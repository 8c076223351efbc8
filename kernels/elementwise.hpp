#pragma once

// What happens to one value, written once for CPU and CUDA. Both compile it
// without contraction, and a fused multiply-add is spelled out where it is
// meant, so both compute the same bits.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/backend.hpp"

#ifdef __CUDACC__
#define TROUPE_ANYWHERE __host__ __device__
#else
#define TROUPE_ANYWHERE
#endif

namespace troupe::kernels {

/// Widens IEEE binary16, exactly. Without a branch, so that loops become
/// vectors, and without subnormal floats, which some threads flush to zero.
TROUPE_ANYWHERE constexpr float widen_half(std::uint16_t half) noexcept {
  const std::uint32_t magnitude = half & 0x7fffu;
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const auto rebias = magnitude >= 0x7c00u ? 224u << 23 : 112u << 23;
  const auto normal = (magnitude << 13) + rebias;
  const auto small = std::bit_cast<std::uint32_t>(
    static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  return std::bit_cast<float>(sign | (magnitude < 0x400u ? small : normal));
}

static_assert(widen_half(0x3c00) == 1 && widen_half(0xc000) == -2);
static_assert(widen_half(0x0001) == 0x1p-24f && widen_half(0x7bff) == 65504);

/// The values of a term as doubles, before the weight.
struct f32_reader {
  const float* values;

  TROUPE_ANYWHERE double operator[](std::size_t j) const noexcept {
    return static_cast<double>(values[j]);
  }
};

struct f16_reader {
  const std::uint16_t* bits;

  TROUPE_ANYWHERE double operator[](std::size_t j) const noexcept {
    return static_cast<double>(widen_half(bits[j]));
  }
};

struct int8_reader {
  const std::int8_t* values;
  double scale;

  /// Exact: 24 bits times 8 fit into a double.
  TROUPE_ANYWHERE double operator[](std::size_t j) const noexcept {
    return scale * static_cast<double>(values[j]);
  }
};

/// Server optimisers keep v - tau^2, so that zeros are the paper's start, v =
/// tau^2.
struct moments {
  double first;
  double second;
};

/// One value's step of a server optimiser; `change` is the pseudo-gradient.
/// Reddi et al. (2021), algorithm 2. Returns what to add to the base.
template <server_rule Rule>
TROUPE_ANYWHERE double server_change(const server_step& how, double change,
                                     moments& kept) noexcept {
  if constexpr (Rule == server_rule::plain) {
    return how.rate * change;
  } else if constexpr (Rule == server_rule::momentum) {
    kept.first = how.beta1 * kept.first + change;
    return how.rate * kept.first;
  } else {
    const auto start = how.tau * how.tau;
    const auto square = change * change;
    const auto sum = kept.second + start;
    auto v = sum > 0 ? sum : 0.0; // Below only if tau grew since.
    if constexpr (Rule == server_rule::adam)
      v = how.beta2 * v + (1 - how.beta2) * square;
    else if constexpr (Rule == server_rule::yogi)
      v = v
          - (1 - how.beta2)
              * (v > square   ? square
                 : v < square ? -square
                              : 0.0);
    else
      v = v + square;
    kept.first = how.beta1 * kept.first + (1 - how.beta1) * change;
    kept.second = v - start;
    return how.rate * kept.first / (sqrt(v) + how.tau);
  }
}

/// AdamW's factors, formed once per step in double.
struct adamw_factors {
  float keep; ///< 1 - rate * decay
  float beta1, rest1;
  float beta2, rest2;
  float rate; ///< rate / (1 - beta1^count)
  float root; ///< sqrt(1 - beta2^count)
  float epsilon;

  explicit adamw_factors(const adamw_step& how) noexcept
    : keep(static_cast<float>(1 - double{how.rate} * how.decay)),
      beta1(how.beta1),
      rest1(static_cast<float>(1 - double{how.beta1})),
      beta2(how.beta2),
      rest2(static_cast<float>(1 - double{how.beta2})),
      rate(static_cast<float>(
        how.rate / (1 - std::pow(how.beta1, static_cast<double>(how.count))))),
      root(static_cast<float>(
        std::sqrt(1 - std::pow(how.beta2, static_cast<double>(how.count))))),
      epsilon(how.epsilon) {
    // nop
  }
};

TROUPE_ANYWHERE inline float adamw_weight(const adamw_factors& how,
                                          float weight, float gradient,
                                          float& first,
                                          float& second) noexcept {
  first = fmaf(how.rest1, gradient, how.beta1 * first);
  second = fmaf(how.rest2 * gradient, gradient, how.beta2 * second);
  return weight * how.keep
         - how.rate * first / (sqrtf(second) / how.root + how.epsilon);
}

/// A sum of squares has this order everywhere: blocks of consecutive values; in
/// a block, value j goes to lane j % 32; lanes are added in halves; blocks one
/// after the other. It depends on no vector width.
inline constexpr std::size_t norm_block = 4096;
inline constexpr std::size_t norm_lanes = 32;

/// Lanes of a product of two rows of floats: value j is added to lane j modulo
/// so many, and lanes pair by pair in the end.
inline constexpr std::size_t dot_lanes = 16;

} // namespace troupe::kernels
