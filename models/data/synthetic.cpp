#include "models/data/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/limits.hpp"
#include "core/random.hpp"

namespace troupe::models {

namespace {

/// One client's truth: how its inputs lie and how they are labelled.
struct class_source {
  std::vector<double> centre; ///< v_k
  std::vector<double> spread; ///< Of the inputs around it: the root of S_jj.
  std::vector<double> weight; ///< W_k, a row per class.
  std::vector<double> bias;   ///< b_k
};

class_source draw_source(const synthetic_options& opts, random_stream& random) {
  const auto u = opts.alpha * random.normal();
  const auto b = opts.beta * random.normal();
  class_source x{
    .centre = std::vector<double>(opts.dimensions),
    .spread = std::vector<double>(opts.dimensions),
    .weight = std::vector<double>(std::size_t{opts.classes} * opts.dimensions),
    .bias = std::vector<double>(opts.classes)};
  for (auto& v : x.centre)
    v = b + random.normal();
  for (std::size_t j = 0; j < x.spread.size(); ++j)
    x.spread[j] = std::pow(static_cast<double>(j + 1), -0.6);
  for (auto& w : x.weight)
    w = u + random.normal();
  for (auto& y : x.bias)
    y = u + random.normal();
  return x;
}

std::int64_t label_of(const class_source& from, const std::vector<double>& x) {
  std::int64_t best = 0;
  auto most = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < from.bias.size(); ++c) {
    double score = from.bias[c];
    for (std::size_t j = 0; j < x.size(); ++j)
      score += from.weight[c * x.size() + j] * x[j];
    if (score > most) {
      most = score;
      best = static_cast<std::int64_t>(c);
    }
  }
  return best;
}

/// Draws `count` examples, appends them, and says which rows they became.
std::vector<std::uint32_t> draw_examples(const class_source& from,
                                         std::size_t count,
                                         random_stream& random,
                                         example_set& to) {
  auto& inputs = std::get<std::vector<float>>(to.inputs[0].values);
  std::vector<std::uint32_t> rows;
  std::vector<double> x(from.centre.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < x.size(); ++j)
      x[j] = from.centre[j] + from.spread[j] * random.normal();
    for (const auto v : x)
      inputs.push_back(static_cast<float>(v));
    to.labels.push_back(label_of(from, x));
    rows.push_back(static_cast<std::uint32_t>(to.size++));
  }
  return rows;
}

result<void> check(const synthetic_options& opts) {
  const auto refuse = [](const char* key, auto found, const std::string& good) {
    return fail(errc::invalid_config, std::string{"synthetic: "} + key + " is "
                                        + std::to_string(found) + "; " + good
                                        + " would do");
  };
  if (!(opts.alpha >= 0) || !std::isfinite(opts.alpha))
    return refuse("alpha", opts.alpha, "0 or more");
  if (!(opts.beta >= 0) || !std::isfinite(opts.beta))
    return refuse("beta", opts.beta, "0 or more");
  if (opts.clients < 1 || opts.clients > limits::clients_max)
    return refuse("clients", opts.clients,
                  "1 to " + std::to_string(limits::clients_max));
  if (opts.dimensions < 1 || opts.dimensions > 4096)
    return refuse("dimensions", opts.dimensions, "1 to 4096");
  if (opts.classes < 2 || opts.classes > 4096)
    return refuse("classes", opts.classes, "2 to 4096");
  return {};
}

} // namespace

result<dataset> make_synthetic(const synthetic_options& opts) {
  if (auto ok = check(opts); !ok)
    return tl::unexpected{ok.error()};
  dataset x;
  x.name = "synthetic";
  x.classes = opts.classes;
  x.natural.emplace();
  for (auto* set : {&x.train, &x.test})
    set->inputs.push_back({.name = "x",
                           .shape = {opts.dimensions},
                           .values = std::vector<float>{}});
  for (std::uint32_t k = 0; k < opts.clients; ++k) {
    random_stream random{derive_seed(opts.seed, "synthetic client", k)};
    // Beyond five deviations a client would hold more than all others together.
    const auto size = std::exp(4 + 2 * std::min(random.normal(), 5.0));
    const auto count = static_cast<std::size_t>(size) + 50;
    const auto from = draw_source(opts, random);
    const auto train = count * 9 / 10;
    if (x.train.size + x.test.size + count
        > std::numeric_limits<std::uint32_t>::max())
      return fail(errc::invalid_config,
                  "synthetic: " + std::to_string(opts.clients)
                    + " clients hold more than 2^32 examples; fewer would do");
    x.natural->train.push_back(draw_examples(from, train, random, x.train));
    x.natural->test.push_back(
      draw_examples(from, count - train, random, x.test));
    x.partition_column.insert(x.partition_column.end(), train, k);
  }
  return x;
}

} // namespace troupe::models
