#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "models/language/frozen_weights.hpp"
#include "models/torch/network.hpp"

namespace troupe::models {

/// What goes into the last of linear layers with rectifiers between them.
/// `product(i, x)` is what the layer says whose matrix is tensor i, and whose
/// bias is the next.
template <class Product>
at::Tensor perceptron_features(std::size_t tensors, at::Tensor x,
                               Product product) {
  if (x.dim() != 2)
    x = x.flatten(1);
  for (std::size_t i = 0; i + 2 < tensors; i += 2)
    x = product(i, x).relu_();
  return x;
}

/// Such a model over weights that nobody trains: it has groups, and nothing at
/// first.
std::unique_ptr<network>
make_inner_perceptron(std::shared_ptr<const frozen_weights> base);

} // namespace troupe::models
