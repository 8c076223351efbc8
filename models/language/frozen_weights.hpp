#pragma once

// Weights that nobody changes, tensor by tensor, as they are kept.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/values.hpp"
#include "models/language/stored_type.hpp"
#include "models/layout.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// A tensor as it is kept: [rows x columns] row by row, or a vector.
struct base_tensor {
  stored_type type = stored_type::f32;
  std::span<const std::byte> bytes;
};

/// The weights of a model that nobody changes. From several threads.
class frozen_weights {
public:
  virtual ~frozen_weights() = default;

  virtual const tensor_list& tensors() const noexcept = 0;
  virtual base_tensor at(std::size_t place) const noexcept = 0;

  /// Over all that they are: two that differ in it are two functions.
  virtual const digest& content() const noexcept = 0;

  std::size_t rows(std::size_t place) const noexcept; ///< Of a vector: 1.
  std::size_t columns(std::size_t place) const noexcept;

  /// Rows [first, first + n) as f32. @pre to.size() == n * columns
  void read_rows(std::size_t place, std::size_t first,
                 std::span<float> to) const;

  std::vector<float> values() const; ///< All of them, flat.
};

/// Where each of them lies among values that are there. @pre as many as the
/// tensors have
std::vector<base_tensor> lying_in(std::span<const float> values,
                                  const tensor_list& tensors);

/// Of values that are there, which are not copied. @pre as many as the tensors
/// have
std::shared_ptr<const frozen_weights> still_weights(tensor_list tensors,
                                                    shared_values values);

} // namespace troupe::models
