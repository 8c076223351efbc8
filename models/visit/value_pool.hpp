#pragma once

// Room for values that visits hold for as long as they last: it is kept for the
// next one, which finds zeros.

#include <cstddef>
#include <map>
#include <vector>

#include "models/aligned.hpp"

namespace troupe::models {

/// One thread at a time.
class value_pool {
public:
  /// @param bytes_max are kept at most of what nobody holds
  explicit value_pool(std::size_t bytes_max = std::size_t{1} << 28)
    : bytes_max_(bytes_max) {
    // nop
  }

  aligned_floats take(std::size_t size);

  /// Where there is no room for it, it takes the place of all others.
  void give_back(aligned_floats x) noexcept;

  std::size_t bytes_kept() const noexcept {
    return bytes_;
  }

private:
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::map<std::size_t, std::vector<aligned_floats>> free_; ///< By size.
};

} // namespace troupe::models
