#pragma once

// Draws among many in proportion to their sizes, and looks at few of them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.hpp"

namespace troupe::policies {

struct candidate;

/// Sums of sizes: place i holds those of the 2^k places that end with it, where
/// 2^k is the largest power that divides i + 1.
class size_tree {
public:
  explicit size_tree(std::span<const candidate> of);

  std::size_t size() const noexcept {
    return sums_.size();
  }

  /// At most `count` places, none twice, each time in proportion to the sizes
  /// of those that are left; then those without any size, in their order. The
  /// tree is as before.
  std::vector<std::size_t> draw(random_stream& random, std::size_t count);

private:
  std::uint64_t size_at(std::size_t place) const noexcept;
  void add(std::size_t place, std::uint64_t x) noexcept;
  std::size_t find(std::uint64_t ahead) const noexcept;

  std::vector<std::uint64_t> sums_;
  std::uint64_t total_ = 0;
};

} // namespace troupe::policies
