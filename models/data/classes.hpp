#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/result.hpp"

namespace troupe::models {

/// How many classes there are: `expected`, or, where that is 0, as many as the
/// labels count from 0. Returns `invalid_data`, with `origin` in the text, at
/// the first label that is not below what is expected; where nothing is, if
/// fewer than half of the labels up to the largest occur: a damaged one would
/// make a model of hundreds of classes.
[[nodiscard]] result<std::int64_t>
count_classes(std::span<const std::int64_t> labels, std::int64_t expected,
              std::string_view origin);

} // namespace troupe::models
