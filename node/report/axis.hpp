#pragma once

// Where a value stands on an axis, and which values are written beside it.

#include <string>
#include <vector>

namespace troupe::node {

struct tick {
  double value = 0;
  std::string label; ///< Another than its neighbours'.
};

class axis {
public:
  /// From `low` to `high`, with room for ticks that are round.
  /// @pre both are finite
  static axis linear(double low, double high);

  /// The same with equal room for equal ratios. @pre 0 < low <= high
  static axis logarithmic(double low, double high);

  /// From `low` to `high` exactly.
  static axis exact(double low, double high);

  /// 0 at its low end, 1 at its high end; within [0, 1] for all values.
  double place(double x) const;

  const std::vector<tick>& ticks() const noexcept {
    return ticks_;
  }

private:
  double low_ = 0;
  double high_ = 1;
  bool log_ = false;
  std::vector<tick> ticks_;
};

/// What seconds are divided by to be read with ease, and the name of that unit.
struct time_unit {
  double seconds = 1;
  const char* name = "s";
};

time_unit unit_for(double longest);

} // namespace troupe::node
