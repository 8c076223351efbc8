#pragma once

// A task on which one small model is not enough: each label has several places.

#include <cstdint>

#include "models/data/example_set.hpp"

namespace troupe::models {

struct modes_options {
  std::uint32_t classes = 10;
  std::uint32_t modes = 4; ///< Of each class; at least 1.
  std::uint32_t dimension = 32;
  double centre = 0.55;            ///< Standard deviation of where modes lie.
  double deviation = 0.9;          ///< Of the examples around them.
  std::uint32_t train_rows = 1000; ///< Of each class.
  std::uint32_t test_rows = 300;   ///< Of each class.
  std::uint64_t seed = 0;
};

/// Each mode of a class is around a point drawn from N(0, centre^2 I), each of
/// its examples is of one of them, drawn at random, and around its point as
/// N(0, deviation^2 I). One input `x`; rows lie by class. The examples of a
/// class do not depend on how many classes there are.
dataset make_modes(const modes_options& opts);

} // namespace troupe::models
