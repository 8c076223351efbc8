#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace troupe::models {

/// Begins each allocation at a cache line, as step kernels like it.
template <class T>
struct cache_aligned {
  using value_type = T;

  static constexpr std::align_val_t alignment{64};

  cache_aligned() = default;

  template <class U>
  constexpr cache_aligned(const cache_aligned<U>&) noexcept {
    // nop
  }

  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), alignment));
  }

  void deallocate(T* x, std::size_t) noexcept {
    ::operator delete(x, alignment);
  }

  friend constexpr bool operator==(cache_aligned, cache_aligned) noexcept {
    return true;
  }
};

/// A flat buffer of parameters or gradients.
using aligned_floats = std::vector<float, cache_aligned<float>>;

} // namespace troupe::models
