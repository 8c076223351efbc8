#include "models/torch/language/feed_forward.hpp"

#include <ATen/ATen.h>

#include "models/torch/language/second_slopes.hpp"

namespace troupe::models {

at::Tensor activated(activation_kind how, const at::Tensor& x) {
  switch (how) {
    case activation_kind::gelu:
      return at::gelu(x);
    case activation_kind::gelu_tanh:
      return at::gelu(x, "tanh");
    case activation_kind::silu:
      return at::silu(x);
    case activation_kind::relu:
      break;
  }
  return at::relu(x);
}

at::Tensor activated(activation_kind how, const at::Tensor& up,
                     const at::Tensor& gate) {
  if (gate.defined() && how == activation_kind::silu)
    return gated_by_silu(up, gate);
  return gate.defined() ? activated(how, gate) * up : activated(how, up);
}

at::Tensor feed_forward(model_parts& of, const language_spec& spec,
                        const layer_places& layer, const at::Tensor& x) {
  if (const auto routed = of.routed(layer.number, x); routed.defined())
    return routed;
  const auto up = of.product(layer.up, layer.up_bias, x);
  const auto gate =
    layer.gate == no_place ? at::Tensor{} : of.product(layer.gate, no_place, x);
  return of.product(layer.down, layer.down_bias,
                    activated(spec.activation, up, gate));
}

} // namespace troupe::models
