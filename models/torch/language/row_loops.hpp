#pragma once

// What slopes that are written out have in common: who asks for them, and loops
// over rows that stay in a cache. This room is compiled without vectors of the
// compiler's own making, so that a loop says how many numbers it takes at once.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace troupe::models {

/// So many numbers at a time stay in a cache, with what is made of them.
constexpr std::int64_t numbers_at_once = 16384;

/// So many are added up in their own type; sums of these are doubles.
constexpr std::int64_t numbers_in_a_sum = 2048;

/// As one row, and there for who reads it by its address. What nobody gave a
/// slope has one of 0.
inline at::Tensor in_a_row(const at::Tensor& x, const at::Tensor& like) {
  return x.defined() ? x.contiguous().view(-1) : at::zeros_like(like).view(-1);
}

/// Who bends a gradient needs no slope of that; who asks gets it by operators.
inline bool is_bent_again() {
  return c10::GradMode::is_enabled();
}

inline at::Tensor or_zeros(const at::Tensor& x, const at::Tensor& like) {
  return x.defined() ? x : at::zeros_like(like);
}

/// f(first, count) for blocks of so many numbers.
template <class Block>
void for_blocks(std::int64_t all, Block f,
                std::int64_t at_once = numbers_at_once) {
  for (std::int64_t first = 0; first < all; first += at_once)
    f(first, std::min(at_once, all - first));
}

template <class T>
struct few_of {
  using type [[gnu::vector_size(16)]] = T;
};

/// As many beside each other as any processor takes at once.
template <class T>
using few = typename few_of<T>::type;

/// Where in a row one number stands, or a few.
template <class V>
struct strip {
  std::int64_t at;

  template <class T>
  V operator()(const T* from) const {
    V x;
    std::memcpy(&x, from + at, sizeof x);
    return x;
  }

  template <class T>
  void put(T* to, const V& x) const {
    std::memcpy(to + at, &x, sizeof x);
  }
};

template <class T>
constexpr std::int64_t few_are = sizeof(few<T>) / sizeof(T);

/// f(strip) until all of n numbers had their turn.
template <class T, class Strip>
[[gnu::always_inline]] inline void for_strips(std::int64_t n, Strip f) {
  std::int64_t i = 0;
  for (; i + few_are<T> <= n; i += few_are<T>)
    f(strip<few<T>>{i});
  for (; i < n; ++i)
    f(strip<T>{i});
}

/// Sums over n numbers of what f(strip) says, several together: each waits for
/// itself.
template <class T, std::size_t Count, class Strip>
[[gnu::always_inline]] inline std::array<double, Count> sums_of(std::int64_t n,
                                                                Strip f) {
  std::array<double, Count> all{};
  for_blocks(
    n,
    [&](std::int64_t first, std::int64_t some) {
      std::array<few<T>, Count> sums{};
      std::array<T, Count> rest{};
      const auto add = [](auto& to, const auto& x) {
        for (std::size_t i = 0; i < Count; ++i)
          to[i] += x[i];
      };
      auto i = first;
      for (; i + few_are<T> <= first + some; i += few_are<T>)
        add(sums, f(strip<few<T>>{i}));
      for (; i < first + some; ++i)
        add(rest, f(strip<T>{i}));
      for (std::size_t k = 0; k < Count; ++k) {
        for (std::int64_t j = 0; j < few_are<T>; ++j)
          rest[k] += sums[k][j];
        all[k] += rest[k];
      }
    },
    numbers_in_a_sum);
  return all;
}

} // namespace troupe::models
