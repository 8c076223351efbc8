// BERT (Devlin et al., 2019), RoBERTa and MiniLM, which differ in numbers.

#include "models/torch/language/architectures.hpp"
#include "models/torch/language/attention.hpp"
#include "models/torch/language/encoder.hpp"

namespace troupe::models {

namespace {

class bert_network final : public language_network {
public:
  explicit bert_network(const language_spec& x)
    : spec_(x),
      places_(places_of(x)) {
    // nop
  }

  const language_spec& spec() const noexcept override {
    return spec_;
  }

  at::Tensor hidden(model_parts& of, const token_batch& x) const override {
    auto y = encoder_embedding(of, spec_, places_, x);
    for (const auto& layer : places_.layers)
      y = encoder_layer(of, spec_, layer, y, seen(of, layer, y, x.there));
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
                  const at::Tensor& x, const at::Tensor& there) const {
    const auto query = of.product(layer.query, layer.query_bias, x);
    const auto key = of.product(layer.key, layer.key_bias, x);
    const auto value = of.product(layer.value, layer.value_bias, x);
    return attend({.query = in_heads(query, spec_.heads),
                   .key = in_heads(key, spec_.key_heads),
                   .value = in_heads(value, spec_.key_heads),
                   .there = there});
  }

  language_spec spec_;
  model_places places_;
};

} // namespace

std::unique_ptr<language_network> make_bert(const language_spec& x) {
  return std::make_unique<bert_network>(x);
}

} // namespace troupe::models
