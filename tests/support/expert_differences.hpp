#pragma once

// What differences say of a model with experts: its slopes, and how they change
// along a direction.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tests/support/expert_scene.hpp"

namespace troupe::models {

/// Moves the parameters to and fro along a direction that was drawn.
class moved_scene {
public:
  explicit moved_scene(expert_scene& x)
    : scene_(x),
      begin_(x.model->parameters().begin(), x.model->parameters().end()),
      direction_(draw(begin_.size(), 3)) {
    // nop
  }

  const floats& direction() const noexcept {
    return direction_;
  }

  /// The slopes there.
  floats descend_at(float step) {
    for (std::size_t i = 0; i < begin_.size(); ++i)
      scene_.model->parameters()[i] = begin_[i] + step * direction_[i];
    return scene_.descend();
  }

  double loss_at(float step) {
    descend_at(step);
    return scene_.descended;
  }

private:
  expert_scene& scene_;
  floats begin_, direction_;
};

inline void expect_slope_of_differences(expert_scene& x) {
  moved_scene moved{x};
  const auto slopes = moved.descend_at(0);
  double slope = 0;
  for (std::size_t i = 0; i < slopes.size(); ++i)
    slope += static_cast<double>(slopes[i]) * moved.direction()[i];
  constexpr float step = 1.f / 4096;
  const auto expected =
    (moved.loss_at(step) - moved.loss_at(-step)) / (2 * step);
  EXPECT_NEAR(slope, expected, 1e-2 * (1 + std::abs(expected)));
}

inline void expect_curve_of_differences(expert_scene& x) {
  moved_scene moved{x};
  constexpr float step = 1.f / 2048;
  const auto above = moved.descend_at(step), below = moved.descend_at(-step);
  moved.descend_at(0);
  const auto found = x.model->gradient();
  std::ranges::fill(found, 0.f);
  const auto done = x.model->curve(scene_rows, 1, moved.direction());
  ASSERT_TRUE(done) << done.error().context;
  double error = 0, length = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto expected = (above[i] - below[i]) / (2 * step);
    error += std::pow(found[i] - expected, 2);
    length += expected * expected;
  }
  EXPECT_GT(length, 1e-3);
  EXPECT_LT(error, 1e-3 * length);
}

} // namespace troupe::models
