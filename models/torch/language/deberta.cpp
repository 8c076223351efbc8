// DeBERTa (He et al., 2021; version 3: 2023): a score is of contents, of a
// query's content and a key's distance, and of a key's content and the distance
// to it. All layers share one table of distances.

#include <ATen/ATen.h>

#include <cmath>

#include "models/torch/language/architectures.hpp"
#include "models/torch/language/attention.hpp"
#include "models/torch/language/distances.hpp"
#include "models/torch/language/encoder.hpp"
#include "models/torch/language/norms.hpp"

namespace troupe::models {

namespace {

/// What all layers know of distances.
struct known_distances {
  at::Tensor table; ///< [2 n x width]
  at::Tensor rows;  ///< [tokens x tokens]
};

class deberta_network final : public language_network {
public:
  explicit deberta_network(const language_spec& x)
    : spec_(x),
      places_(places_of(x)) {
    // nop
  }

  const language_spec& spec() const noexcept override {
    return spec_;
  }

  at::Tensor hidden(model_parts& of, const token_batch& x) const override {
    known_distances by{.table = of.whole(places_.relative),
                       .rows = rows_of_distances(x.ids.size(1), spec_)};
    if (places_.relative_norm != no_place)
      by.table =
        layer_norm_of(of, places_.relative_norm, places_.relative_norm_bias,
                      by.table, spec_.epsilon);
    auto y = encoder_embedding(of, spec_, places_, x);
    for (const auto& layer : places_.layers)
      y = encoder_layer(of, spec_, layer, y, seen(of, layer, y, x.there, by));
    return y;
  }

  at::Tensor logits(model_parts& of, const at::Tensor& hidden) const override {
    return of.product(places_.head, places_.head_bias,
                      before_head(of, spec_, places_, hidden));
  }

  open_product open_logits(model_parts& of,
                           const at::Tensor& hidden) const override {
    return of.open(places_.head, places_.head_bias,
                   before_head(of, spec_, places_, hidden));
  }

private:
  at::Tensor seen(model_parts& of, const layer_places& layer,
                  const at::Tensor& x, const at::Tensor& there,
                  const known_distances& by) const {
    const auto query = by_heads(of.product(layer.query, layer.query_bias, x));
    const auto key = by_heads(of.product(layer.key, layer.key_bias, x));
    const auto value = by_heads(of.product(layer.value, layer.value_bias, x));
    // Three terms: each is divided by the root of three more than alone.
    return attend({.query = query / std::sqrt(3.),
                   .key = key,
                   .value = value,
                   .there = there,
                   .bias = bias(of, layer, query, key, by)});
  }

  at::Tensor bias(model_parts& of, const layer_places& layer,
                  const at::Tensor& query, const at::Tensor& key,
                  const known_distances& by) const {
    const auto scale = 1 / std::sqrt(3 * static_cast<double>(spec_.head_width));
    const auto table = by.table.unsqueeze(0);
    const auto far_keys =
      by_heads(of.product(layer.key, layer.key_bias, table));
    const auto far_queries =
      by_heads(of.product(layer.query, layer.query_bias, table));
    const auto rows = by.rows.expand(
      {query.size(0), query.size(1), by.rows.size(0), by.rows.size(1)});
    const auto of_queries =
      at::matmul(query * scale, far_keys.transpose(2, 3)).gather(3, rows);
    const auto of_keys = at::matmul(key * scale, far_queries.transpose(2, 3))
                           .gather(3, rows.transpose(2, 3));
    return of_queries + of_keys.transpose(2, 3);
  }

  at::Tensor by_heads(const at::Tensor& x) const {
    return in_heads(x, spec_.heads);
  }

  language_spec spec_;
  model_places places_;
};

} // namespace

std::unique_ptr<language_network> make_deberta(const language_spec& x) {
  return std::make_unique<deberta_network>(x);
}

} // namespace troupe::models
