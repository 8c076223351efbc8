#include "models/torch/language/encoder.hpp"

#include <ATen/ATen.h>

#include "core/assert.hpp"
#include "models/torch/language/attention.hpp"
#include "models/torch/language/feed_forward.hpp"
#include "models/torch/language/norms.hpp"

namespace troupe::models {

at::Tensor encoder_embedding(model_parts& of, const language_spec& spec,
                             const model_places& places, const token_batch& x) {
  auto y = of.rows(places.tokens, x.ids);
  if (places.types != no_place)
    y = y
        + of.rows(places.types,
                  x.types.defined() ? x.types : at::zeros({1}, at::kLong));
  if (places.positions != no_place) {
    const auto first = static_cast<std::int64_t>(spec.first_position);
    y = y
        + of.rows(places.positions,
                  at::arange(first, first + x.ids.size(1), at::kLong));
  }
  return layer_norm_of(of, places.first_norm, places.first_norm_bias, y,
                       spec.epsilon);
}

at::Tensor encoder_layer(model_parts& of, const language_spec& spec,
                         const layer_places& layer, const at::Tensor& x,
                         const at::Tensor& seen) {
  const auto attended =
    of.product(layer.output, layer.output_bias, out_of_heads(seen));
  const auto y = layer_norm_of(of, layer.norm1, layer.norm1_bias, x + attended,
                               spec.epsilon);
  return layer_norm_of(of, layer.norm2, layer.norm2_bias,
                       y + feed_forward(of, spec, layer, y), spec.epsilon);
}

at::Tensor before_head(model_parts& of, const language_spec& spec,
                       const model_places& places, const at::Tensor& hidden) {
  TROUPE_ASSERT(spec.has_head);
  auto y = hidden;
  if (places.transform != no_place) {
    // RoBERTa's does not follow the blocks'.
    const auto how = spec.kind == architecture_kind::roberta
                       ? activation_kind::gelu
                       : spec.activation;
    y = activated(how, of.product(places.transform, places.transform_bias, y));
    y = layer_norm_of(of, places.transform_norm, places.transform_norm_bias, y,
                      spec.epsilon);
  }
  return y;
}

} // namespace troupe::models
