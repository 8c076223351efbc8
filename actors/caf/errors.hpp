#pragma once

// Between actors an error is CAF's, and means that something broke. One
// function each way.

#include <string>

#include <caf/error.hpp>

#include "core/result.hpp"

namespace troupe::actors {

caf::error to_caf(const error& x);

/// Says whether `x` is ours, with that code.
bool is(const caf::error& x, errc code);

/// The text for people.
std::string context_of(const caf::error& x);

} // namespace troupe::actors
