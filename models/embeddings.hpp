#pragma once

// What a model makes of an example before its last layer: for whoever decides
// by it without learning it, as a gate does.

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/objective.hpp"

namespace troupe::models {

/// The side of an objective that has embeddings: what goes into its last layer.
class model_embeddings {
public:
  virtual ~model_embeddings() = default;

  virtual std::size_t width() const noexcept = 0;

  /// Writes those of one row by the live parameters: in evaluation mode,
  /// without a gradient, nothing stored changes. @pre out.size() == width()
  [[nodiscard]] virtual result<void> embed(split part, std::uint32_t row,
                                           std::span<float> out) = 0;
};

} // namespace troupe::models
