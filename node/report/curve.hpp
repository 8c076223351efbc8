#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe::node {

/// A curve of any length in bounded memory: where there are too many points,
/// neighbours become one that knows their mean, least and largest.
class curve {
public:
  static constexpr std::size_t points_max = 256;

  struct point {
    double version = 0; ///< Of the last that is in it.
    double at = 0;
    double sum = 0;
    double low = 0;
    double high = 0;
    std::uint64_t count = 0;

    double mean() const noexcept {
      return sum / static_cast<double>(count);
    }
  };

  /// @pre values come in the order of versions and of time
  void add(double version, double at, double y) {
    if (!points_.empty() && points_.back().count < per_point_) {
      merge(points_.back(), {version, at, y, y, y, 1});
    } else {
      if (points_.size() == points_max)
        halve();
      points_.push_back({version, at, y, y, y, 1});
    }
    last_ = y;
  }

  const std::vector<point>& points() const noexcept {
    return points_;
  }

  /// How many values a point stands for, at most.
  std::uint64_t values_per_point() const noexcept {
    return per_point_;
  }

  bool empty() const noexcept {
    return points_.empty();
  }

  double last() const noexcept {
    return last_;
  }

private:
  static void merge(point& to, const point& x) {
    to.version = x.version;
    to.at = x.at;
    to.sum += x.sum;
    to.low = std::min(to.low, x.low);
    to.high = std::max(to.high, x.high);
    to.count += x.count;
  }

  void halve() {
    for (std::size_t i = 0; i < points_.size() / 2; ++i) {
      points_[i] = points_[2 * i];
      merge(points_[i], points_[2 * i + 1]);
    }
    points_.resize(points_.size() / 2);
    per_point_ *= 2;
  }

  std::vector<point> points_;
  std::uint64_t per_point_ = 1;
  double last_ = 0;
};

} // namespace troupe::node
