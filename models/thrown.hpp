#pragma once

#include "core/result.hpp"

namespace troupe::models {

/// What a library threw during arithmetic, as an error for people.
/// @pre within a handler
error what_was_thrown() noexcept;

} // namespace troupe::models
