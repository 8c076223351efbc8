#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// How often something took how long. The bounds double from 1 ms to 1,048.576
/// seconds and are for ever: who asks for a p99 compares with what was.
struct duration_counts {
  static constexpr std::size_t bounds = 21;

  /// The longest of a bucket, in seconds; what is above the last has a bucket
  /// of its own.
  static constexpr double bound(std::size_t i) noexcept {
    return 0.001 * static_cast<double>(std::uint64_t{1} << i);
  }

  std::uint64_t count = 0;
  double seconds = 0;
  std::array<std::uint64_t, bounds + 1> buckets{};

  constexpr void add(double x) noexcept {
    std::size_t i = 0;
    while (i < bounds && x > bound(i))
      ++i;
    ++buckets[i];
    ++count;
    seconds += x;
  }

  constexpr void add(const duration_counts& x) noexcept {
    for (std::size_t i = 0; i < buckets.size(); ++i)
      buckets[i] += x.buckets[i];
    count += x.count;
    seconds += x.seconds;
  }
};

} // namespace troupe
