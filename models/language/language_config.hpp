#pragma once

#include <cstdint>

namespace troupe::models {

/// What of a language model is learned, and how much of it is computed at once.
struct language_config {
  /// All weights are parameters; else the base is one copy that nobody changes,
  /// and parameters are what is attached to it.
  bool trained = false;
  std::uint32_t micro_batch = 0; ///< Rows of a pass; 0: all of a batch, and in
                                 ///< scoring 8.
  std::uint32_t chunk = 256;     ///< Targets whose logits exist at once; not 0.
};

} // namespace troupe::models
