#pragma once

// A schedule maps progress in [0, 1] to a factor of the learning rate in [0,
// 1]: the run's progress, which means the same in asynchronous runs, or a
// client's own, by its steps (`own_steps`).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>

namespace troupe::policies {

struct constant_schedule {
  double operator()(double) const noexcept {
    return 1;
  }
};

/// Half a cosine from 1 down to `last`.
struct cosine_schedule {
  double last = 0;

  double operator()(double progress) const noexcept {
    constexpr double pi = 3.14159265358979323846;
    return last + (1 - last) * 0.5 * (1 + std::cos(pi * progress));
  }
};

/// `steps` times, at equal distances, the rate is multiplied by `factor`.
struct step_schedule {
  std::uint32_t steps = 2;
  double factor = 0.1;

  double operator()(double progress) const noexcept {
    const auto done = std::floor(progress * (steps + 1.0));
    return std::pow(factor, std::min(done, static_cast<double>(steps)));
  }
};

/// By an equal factor in equal parts of the run, from 1 down to `last`.
struct exponential_schedule {
  double last = 0.1;

  double operator()(double progress) const noexcept {
    return std::pow(last, progress);
  }
};

/// The closed set that a configuration can name.
using rate_schedule = std::variant<constant_schedule, cosine_schedule,
                                   step_schedule, exponential_schedule>;

/// @pre `last` and `factor` are in [0, 1]
inline double rate_factor(const rate_schedule& schedule, double progress) {
  const auto x = std::clamp(progress, 0.0, 1.0);
  return std::visit([=](const auto& f) { return f(x); }, schedule);
}

} // namespace troupe::policies
