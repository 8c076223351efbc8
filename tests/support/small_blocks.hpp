#pragma once

// Routed blocks in double, and the same computed one token after the other,
// each expert with composed weights.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "models/torch/language/feed_forward.hpp"
#include "models/torch/language/routed_blocks.hpp"
#include "tests/support/tiny_language.hpp"

namespace troupe::test {

using tensors = std::vector<at::Tensor>;

inline at::Tensor ruled(std::uint32_t phase, std::vector<std::int64_t> shape) {
  auto result = at::empty(shape, at::kDouble);
  auto* to = result.data_ptr<double>();
  for (std::int64_t i = 0; i < result.numel(); ++i)
    to[i] = test::value_by_rule(phase, static_cast<std::uint32_t>(i));
  return result;
}

struct factor_pair {
  at::Tensor u, v;
};

/// Blocks of two layers, with factors of rank 2 for each expert.
struct small_blocks {
  models::language_spec spec;
  models::model_places places;
  tensors base;
  std::unique_ptr<models::model_parts> parts;
  models::routing_options how;
  std::map<std::pair<std::uint32_t, std::size_t>, factor_pair> factors;
  tensors routers;
  tensors learned; ///< All of both.

  small_blocks(std::string_view config, const models::routing_options& x)
    : spec(tiny_spec(config)),
      places(models::places_of(spec)),
      base(tensors_by_rule(spec, at::kDouble)),
      parts(models::parts_of(base)),
      how(x) {
    std::uint32_t phase = 100;
    for (const auto& layer : places.layers) {
      for (const auto place : {layer.up, layer.gate, layer.down})
        for (std::uint32_t i = 0; place != models::no_place && i < how.experts;
             ++i)
          factors[{i, place}] = {
            .u = learn(ruled(phase++, {2, base[place].size(0)})),
            .v = learn(ruled(phase++, {2, base[place].size(1)}))};
      for (const auto rows : columns_of_routers())
        routers.push_back(learn(
          ruled(phase++, {static_cast<std::int64_t>(how.experts), rows})));
      if (how.bias)
        routers.push_back(
          learn(ruled(phase++, {static_cast<std::int64_t>(how.experts)})));
    }
  }

  /// Of what a layer has: one map, or two where gates are noisy.
  std::vector<std::int64_t> columns_of_routers() const {
    std::vector<std::int64_t> columns{spec.width};
    if (how.gate == models::gate_kind::noisy)
      columns.push_back(how.experts);
    return columns;
  }

  at::Tensor learn(const at::Tensor& x) {
    learned.push_back(x.clone().requires_grad_());
    return learned.back();
  }

  models::expert_terms terms() const {
    return [this](std::uint32_t expert, std::size_t place, const at::Tensor& y,
                  const at::Tensor& x) {
      const auto& of = factors.at({expert, place});
      return y + x.mm(of.v.t()).mm(of.u);
    };
  }

  models::routed_blocks testee() const {
    return {spec, how, how.even ? tensors{} : routers};
  }

  /// Of [tokens x width].
  at::Tensor expert(std::uint32_t i, std::size_t layer,
                    const at::Tensor& x) const {
    auto composed = base;
    for (const auto& found : factors)
      if (found.first.first == i) {
        auto& to = composed[found.first.second];
        to = to + found.second.u.t().mm(found.second.v);
      }
    return models::feed_forward(*models::parts_of(composed), spec,
                                places.layers[layer], x);
  }

  /// Of one token, before anything is drawn.
  at::Tensor logits(std::size_t layer, const at::Tensor& x) const {
    if (how.bias)
      return x.mm(routers[2 * layer].t()).reshape({-1})
             + routers[2 * layer + 1];
    if (how.gate == models::gate_kind::linear)
      return x.mm(routers[layer].t()).reshape({-1});
    const auto inside = x.mm(routers[2 * layer].t()).tanh();
    return inside.mm(routers[2 * layer + 1].t()).reshape({-1});
  }

  /// Of one token. @param noise what is added to its logits; undefined: nothing
  at::Tensor slowly(std::size_t layer, const at::Tensor& x,
                    const at::Tensor& noise = {}) const {
    auto logits = this->logits(layer, x);
    if (noise.defined())
      logits = logits + noise;
    std::vector<std::int64_t> best;
    while (best.size() < std::min(how.top, how.experts)) {
      std::int64_t next = -1;
      for (std::int64_t i = 0; i < logits.numel(); ++i)
        if (std::find(best.begin(), best.end(), i) == best.end()
            && (next < 0
                || logits[i].item<double>() > logits[next].item<double>()))
          next = i;
      best.push_back(next);
    }
    const auto chosen = at::tensor(best, at::kLong);
    const auto weights = how.of_all
                           ? at::softmax(logits, 0).index_select(0, chosen)
                           : at::softmax(logits.index_select(0, chosen), 0);
    auto y = at::zeros({1, spec.width}, at::kDouble);
    for (std::size_t k = 0; k < best.size(); ++k)
      y = y
          + weights[static_cast<std::int64_t>(k)]
              * expert(static_cast<std::uint32_t>(best[k]), layer, x);
    return y;
  }
};

inline at::Tensor weighed(const at::Tensor& x) {
  return (x * at::arange(x.numel(), at::kDouble).sin().reshape(x.sizes()))
    .sum();
}

inline void expect_near(const tensors& found, const tensors& expected,
                        double by) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].defined(), expected[i].defined()) << i;
    if (found[i].defined()) {
      EXPECT_LT(apart(found[i], expected[i]), by) << i;
    }
  }
}

} // namespace troupe::test
