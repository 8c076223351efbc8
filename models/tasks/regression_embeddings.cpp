#include <algorithm>

#include "core/assert.hpp"
#include "models/tasks/regression.hpp"

namespace troupe::models {

result<void> regression::embed(split part, std::uint32_t row,
                               std::span<float> out) {
  TROUPE_ASSERT(out.size() == width());
  if (auto ok = check(part, {&row, 1}); !ok)
    return ok;
  run(part, row);
  std::ranges::copy(values_[layers_.size() - 1], out.begin());
  return {};
}

} // namespace troupe::models
