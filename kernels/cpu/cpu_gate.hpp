#pragma once

#include <span>
#include <vector>

#include "kernels/backend.hpp"

namespace troupe::kernels {

/// The gate on this processor, with room that is kept between calls. See the
/// backend's.
class cpu_gate {
public:
  result<void> forward(const gate_shape& of, std::span<const float> gate,
                       std::span<const float> rows, gate_pass out);

  result<void> backward(const gate_shape& of, std::span<const float> gate,
                        std::span<const float> rows,
                        std::span<const float> hidden,
                        std::span<const float> along_logits,
                        std::span<float> gradient);

  result<void> scores(const gate_shape& of, std::span<const float> gate,
                      std::span<const float> rows, std::span<double> sum);

private:
  /// Leaves a tile's hidden values and logits beside each other.
  void pass(const gate_shape& of, std::span<const float> gate,
            std::span<const float> rows);

  std::vector<float> rows_;
  std::vector<float> hidden_;
  std::vector<float> logits_;
  std::vector<float> hidden_of_all_;
  std::vector<float> logits_of_all_;
  std::vector<double> sums_;
};

} // namespace troupe::kernels
