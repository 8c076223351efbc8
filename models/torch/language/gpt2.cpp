// GPT-2 (Radford et al., 2019): a table of places, norms before what they norm,
// and one product for queries, keys and values.

#include <ATen/ATen.h>

#include "core/assert.hpp"
#include "models/language/names.hpp"
#include "models/torch/language/architectures.hpp"
#include "models/torch/language/attention.hpp"
#include "models/torch/language/feed_forward.hpp"
#include "models/torch/language/norms.hpp"

namespace troupe::models {

namespace {

class gpt2_network final : public language_network {
public:
  explicit gpt2_network(const language_spec& x)
    : spec_(x),
      places_(places_of(x)) {
    // nop
  }

  const language_spec& spec() const noexcept override {
    return spec_;
  }

  at::Tensor hidden(model_parts& of, const token_batch& x) const override {
    const auto places = at::arange(x.ids.size(1), at::kLong);
    auto y =
      of.rows(places_.tokens, x.ids) + of.rows(places_.positions, places);
    for (const auto& layer : places_.layers) {
      y = y + attended(of, layer, y, x.there);
      const auto z =
        layer_norm_of(of, layer.norm2, layer.norm2_bias, y, spec_.epsilon);
      y = y + feed_forward(of, spec_, layer, z);
    }
    return layer_norm_of(of, places_.last_norm, places_.last_norm_bias, y,
                         spec_.epsilon);
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
                      const at::Tensor& x, const at::Tensor& there) const {
    const auto y =
      layer_norm_of(of, layer.norm1, layer.norm1_bias, x, spec_.epsilon);
    const auto all = of.product(layer.query, layer.query_bias, y).chunk(3, -1);
    const auto seen = attend({.query = in_heads(all[0], spec_.heads),
                              .key = in_heads(all[1], spec_.heads),
                              .value = in_heads(all[2], spec_.heads),
                              .there = there,
                              .causal = true});
    return of.product(layer.output, layer.output_bias, out_of_heads(seen));
  }

  language_spec spec_;
  model_places places_;
};

} // namespace

std::unique_ptr<language_network> make_gpt2(const language_spec& x) {
  return std::make_unique<gpt2_network>(x);
}

} // namespace troupe::models
