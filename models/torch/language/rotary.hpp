#pragma once

// Rotary embeddings of places (Su et al., 2021): values of queries and keys are
// turned by angles that grow with their place, so that their products depend on
// distances alone. The i-th value goes with the one half a width behind it, as
// in transformers' files; pairs of neighbours are another order of the rows of
// q and k, which the reader of such files undoes.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/language/spec.hpp"

namespace troupe::models {

/// How far each pair of values is turned from one place to the next, after
/// scaling; one per pair. @pre how.width is even
std::vector<double> turning_rates(const rope_spec& how);

class rotary {
public:
  /// @param tokens_max places that there are tables for. @pre how.width <=
  /// head_width
  rotary(const rope_spec& how, std::int64_t head_width,
         std::int64_t tokens_max);

  /// x is [rows x heads x tokens x head_width], and so is what comes back, in
  /// that order; slopes along x are in the order [rows x tokens x heads x
  /// head_width], of which heads are taken. What is behind the first values, of
  /// which there are how.width, stays.
  at::Tensor turn(const at::Tensor& x) const;

  /// Of each angle, [tokens_max x half].
  struct table {
    at::Tensor cosines, sines;
  };

private:
  std::int64_t head_width_;
  std::int64_t tokens_max_;
  table doubles_;
  table floats_;
};

} // namespace troupe::models
