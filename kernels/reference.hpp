#pragma once

#include <memory>

#include "kernels/backend.hpp"

namespace troupe::kernels {

/// The specification: what each operation means, in loops that nobody has to
/// think about. A merge adds whole steps of the grid as integers, and
/// everything else is in long double and rounds when it is stored. Slow; the
/// conformance suite holds the other backends against it.
std::unique_ptr<backend> make_reference_backend();

} // namespace troupe::kernels
