#pragma once

#include <span>
#include <vector>

#include "kernels/backend.hpp"

namespace troupe::kernels {

/// Side terms on this processor, with room that is kept between calls. See the
/// backend's.
class cpu_side {
public:
  result<void> forward(const side_terms& of, std::span<const float> rows,
                       std::span<float> inner, std::span<float> y);

  result<void> backward(const side_terms& of, std::span<const float> rows,
                        std::span<const float> inner,
                        std::span<const float> along_y, side_slopes out);

private:
  std::vector<float> counted_; ///< Inner products times what they count with.
  std::vector<float> along_;   ///< Slopes along inner products.
};

} // namespace troupe::kernels
