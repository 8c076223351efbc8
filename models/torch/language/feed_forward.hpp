#pragma once

#include <ATen/core/Tensor.h>

#include "models/language/names.hpp"
#include "models/language/spec.hpp"
#include "models/torch/language/parts.hpp"

namespace troupe::models {

at::Tensor activated(activation_kind how, const at::Tensor& x);

/// f of what goes up, or f(gate) * up where there is a gate (else undefined).
at::Tensor activated(activation_kind how, const at::Tensor& up,
                     const at::Tensor& gate);

/// down(f(up x)), or down(f(gate x) * up x) where there is a gate; or what the
/// parts have in its place.
at::Tensor feed_forward(model_parts& of, const language_spec& spec,
                        const layer_places& layer, const at::Tensor& x);

} // namespace troupe::models
