#pragma once

#include <cstdint>

namespace troupe::models {

/// Makes torch's random operators on the CPU draw from a generator of the
/// calling thread. Torch itself has one per process, so that the dropout of one
/// worker would depend on what the others do. Every thread may call it; the
/// first call counts.
void own_torch_random();

/// Begins the calling thread's generator anew. @pre own_torch_random() was
/// called.
void begin_torch_random(std::uint64_t seed);

} // namespace troupe::models
