#pragma once

// Which libraries do the arithmetic, and with how many threads.

#include <string>

namespace troupe::models {

/// Makes torch and its BLAS compute in the calling thread alone. Called when
/// the module is loaded, where it reaches the threads of BLAS, and by each
/// thread that computes; later calls in a thread cost nothing. Without it two
/// workers slow each other down twentyfold, unless the user sets
/// OPENBLAS_NUM_THREADS.
void use_one_thread_per_worker();

/// What the arithmetic stands on, for people: torch, BLAS, oneDNN, CUDA.
std::string description();

/// What the bits of training depend on: equal digests are promised only between
/// processes whose fingerprints are equal.
std::string fingerprint();

} // namespace troupe::models
