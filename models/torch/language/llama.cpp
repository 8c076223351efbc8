// Llama (Touvron et al., 2023) and what has its shape: queries and keys are
// turned by their place, norms keep the mean, and a gate is beside each
// feed-forward block. Several heads of queries may share one of keys.

#include <ATen/ATen.h>

#include "core/assert.hpp"
#include "models/language/names.hpp"
#include "models/torch/language/architectures.hpp"
#include "models/torch/language/attention.hpp"
#include "models/torch/language/feed_forward.hpp"
#include "models/torch/language/norms.hpp"
#include "models/torch/language/rotary.hpp"

namespace troupe::models {

namespace {

class llama_network final : public language_network {
public:
  explicit llama_network(const language_spec& x)
    : spec_(x),
      places_(places_of(x)) {
    // nop
  }

  const language_spec& spec() const noexcept override {
    return spec_;
  }

  at::Tensor hidden(model_parts& of, const token_batch& x) const override {
    // Made anew for each pass: a context has 131,072 places, a batch 128.
    const rotary by{spec_.rope, spec_.head_width, x.ids.size(1)};
    auto y = of.rows(places_.tokens, x.ids);
    for (const auto& layer : places_.layers) {
      y = y + attended(of, layer, y, x.there, by);
      const auto z = rms_norm(y, of.whole(layer.norm2), spec_.epsilon);
      y = y + feed_forward(of, spec_, layer, z);
    }
    return rms_norm(y, of.whole(places_.last_norm), spec_.epsilon);
  }

  at::Tensor logits(model_parts& of, const at::Tensor& hidden) const override {
    TROUPE_ASSERT(spec_.has_head);
    return of.product(places_.head, places_.head_bias, hidden);
  }

  open_product open_logits(model_parts& of,
                           const at::Tensor& hidden) const override {
    TROUPE_ASSERT(spec_.has_head);
    return of.open(places_.head, places_.head_bias, hidden);
  }

private:
  at::Tensor attended(model_parts& of, const layer_places& layer,
                      const at::Tensor& x, const at::Tensor& there,
                      const rotary& by) const {
    const auto y = rms_norm(x, of.whole(layer.norm1), spec_.epsilon);
    const auto query = of.product(layer.query, layer.query_bias, y);
    const auto key = of.product(layer.key, layer.key_bias, y);
    const auto value = of.product(layer.value, layer.value_bias, y);
    const auto seen = attend({.query = by.turn(in_heads(query, spec_.heads)),
                              .key = by.turn(in_heads(key, spec_.key_heads)),
                              .value = in_heads(value, spec_.key_heads),
                              .there = there,
                              .causal = true});
    return of.product(layer.output, layer.output_bias, out_of_heads(seen));
  }

  language_spec spec_;
  model_places places_;
};

} // namespace

std::unique_ptr<language_network> make_llama(const language_spec& x) {
  return std::make_unique<llama_network>(x);
}

} // namespace troupe::models
