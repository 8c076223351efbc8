#include "models/data/modes.hpp"

#include <cstddef>
#include <variant>
#include <vector>

#include "core/assert.hpp"
#include "core/random.hpp"

namespace troupe::models {

namespace {

using points = std::vector<std::vector<double>>;

points draw_points(const modes_options& opts, random_stream& random) {
  points out(opts.modes, std::vector<double>(opts.dimension));
  for (auto& point : out)
    for (auto& x : point)
      x = opts.centre * random.normal();
  return out;
}

void draw_examples(const points& around, const modes_options& opts,
                   std::uint32_t label, std::uint32_t count,
                   random_stream& random, example_set& to) {
  auto& values = std::get<std::vector<float>>(to.inputs.front().values);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const auto x : around[random.below(around.size())])
      values.push_back(
        static_cast<float>(x + opts.deviation * random.normal()));
    to.labels.push_back(std::int64_t{label});
    ++to.size;
  }
}

} // namespace

dataset make_modes(const modes_options& opts) {
  TROUPE_ASSERT(opts.modes > 0);
  dataset x;
  x.name = "modes";
  x.classes = opts.classes;
  for (auto* set : {&x.train, &x.test})
    set->inputs.push_back(
      {.name = "x", .shape = {opts.dimension}, .values = std::vector<float>{}});
  for (std::uint32_t label = 0; label < opts.classes; ++label) {
    random_stream random{derive_seed(opts.seed, "modes of class", label)};
    const auto around = draw_points(opts, random);
    draw_examples(around, opts, label, opts.train_rows, random, x.train);
    draw_examples(around, opts, label, opts.test_rows, random, x.test);
  }
  return x;
}

} // namespace troupe::models
