#include "models/visit/value_pool.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace troupe::models {

aligned_floats value_pool::take(std::size_t size) {
  const auto found = free_.find(size);
  if (found == free_.end() || found->second.empty())
    return aligned_floats(size);
  auto x = std::move(found->second.back());
  found->second.pop_back();
  bytes_ -= size * sizeof(float);
  std::ranges::fill(x, 0.f);
  return x;
}

void value_pool::give_back(aligned_floats x) noexcept {
  const auto bytes = x.size() * sizeof(float);
  if (bytes == 0 || bytes > bytes_max_)
    return;
  if (bytes > bytes_max_ - bytes_) {
    free_.clear();
    bytes_ = 0;
  }
  try {
    free_[x.size()].push_back(std::move(x));
    bytes_ += bytes;
  } catch (const std::bad_alloc&) {
    return; // It goes: who ends a visit needs no memory for that.
  }
}

} // namespace troupe::models
