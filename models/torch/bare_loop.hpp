#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

struct bare_loop_options {
  std::vector<std::int64_t> hidden = {200};
  std::int64_t batch_size = 10;
  std::int64_t epochs = 1;
  double learning_rate = 0.1;
  int visits = 100;
};

/// What a visit costs somebody who writes it down with LibTorch and nothing
/// else: load the parameters of an MLP, take the steps of torch::optim::SGD
/// over one client's rows, form the delta, add it to a sum, all in float. Visit
/// i is that of `clients[i % clients.size()]`. The examples are tensors before
/// the clock starts. Returns the CPU seconds of the process per visit; the
/// yardstick of `troupe bench`.
[[nodiscard]] result<double>
bare_loop(const dataset& data,
          std::span<const std::vector<std::uint32_t>> clients,
          const bare_loop_options& opts);

} // namespace troupe::models
