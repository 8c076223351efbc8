#pragma once

// The least of a function of two numbers without its derivative, in a few
// looks: from a point, a step along each axis either way; the first that is
// better is gone to, and where none is the step is halved.

#include <algorithm>
#include <array>
#include <cstddef>

namespace troupe::models {

/// Who holds it evaluates `next` and tells what came of it. What is no number
/// is never better.
class compass_search {
public:
  using point = std::array<double, 2>;

  /// From (0, 0), within [-1, 1] on both axes.
  explicit compass_search(std::size_t evaluations, double step = 0.5)
    : left_(evaluations),
      step_(step) {
    // nop
  }

  /// Whether there is something to evaluate.
  bool goes_on() const noexcept {
    return left_ > 0;
  }

  /// @pre goes_on()
  const point& next() const noexcept {
    return next_;
  }

  /// Of `next`.
  void tell(double value) {
    --left_;
    if (!has_begun_ || value < least_) {
      best_ = next_;
      least_ = value;
      direction_ = 0;
    } else {
      ++direction_;
    }
    has_begun_ = true;
    look_around();
  }

  const point& best() const noexcept {
    return best_;
  }

  double least() const noexcept {
    return least_;
  }

private:
  static constexpr std::size_t directions = 4;
  static constexpr double least_step = 1e-9;

  /// From the best point on; a way that leaves the square is none.
  void look_around() {
    for (;; ++direction_) {
      if (direction_ == directions) {
        direction_ = 0;
        step_ /= 2;
      }
      if (step_ < least_step) {
        left_ = 0;
        return;
      }
      const auto way = direction_ % 2 == 0 ? step_ : -step_;
      next_ = best_;
      auto& x = next_[direction_ / 2];
      x = std::clamp(x + way, -1.0, 1.0);
      if (next_ != best_)
        return;
    }
  }

  std::size_t left_;
  double step_;
  point next_{};
  point best_{};
  double least_ = 0;
  std::size_t direction_ = 0; ///< Of `next`, from the best point.
  bool has_begun_ = false;
};

} // namespace troupe::models
