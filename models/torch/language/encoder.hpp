#pragma once

// What BERT and those after it have in common: they see what stands before a
// token and behind it, norms stand behind what they norm, and the head has a
// layer of its own.

#include <ATen/core/Tensor.h>

#include "models/language/names.hpp"
#include "models/language/spec.hpp"
#include "models/torch/language/network.hpp"

namespace troupe::models {

/// Tokens, and places and types of tokens where there is a table of them,
/// normed.
at::Tensor encoder_embedding(model_parts& of, const language_spec& spec,
                             const model_places& places, const token_batch& x);

/// A layer behind its attention. @param seen what attention gives, by heads
at::Tensor encoder_layer(model_parts& of, const language_spec& spec,
                         const layer_places& layer, const at::Tensor& x,
                         const at::Tensor& seen);

/// The head's own layer: what its matrix is multiplied with.
at::Tensor before_head(model_parts& of, const language_spec& spec,
                       const model_places& places, const at::Tensor& hidden);

} // namespace troupe::models
