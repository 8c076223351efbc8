#pragma once

#include "models/inner_adapters.hpp"
#include "models/language/spec.hpp"

namespace troupe::models {

/// Of all layers, one after the other: LAYER, experts x width. A noisy gate's
/// are LAYER.inner, experts x width, and LAYER.outer, experts x experts. None:
/// one expert has no router, and the same goes for those that all count the
/// same.
tensor_list router_tensors(const language_spec& of, const routing_options& how);

} // namespace troupe::models
