// Whom a common client asks (DDOME). Over all of its rows it adds the chances
// that the fetched gate gives each expert, and asks for those with the largest
// sums, best first; of equal ones for the one of lower index. The request is
// all that the server hears of it.

#include <numeric>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/gated.hpp"

namespace troupe::models {

namespace {

/// As many as would be asked for, whatever the gate says: the baseline of who
/// holds that routing at random does as well. It is of training alone: who is
/// never invited asks as the gate says.
result<std::vector<std::uint32_t>> any_of_them(const visit& v) {
  return shape_of_gate(v).map([&](const kernels::gate_shape& shape) {
    std::vector<std::uint32_t> all(shape.experts);
    std::iota(all.begin(), all.end(), 0u);
    random_stream random{derive_seed(v.in.seed, "request")};
    const auto wanted = wanted_of(v, shape);
    for (std::size_t i = 0; i < wanted; ++i)
      std::swap(all[i], all[i + random.below(all.size() - i)]);
    all.resize(wanted);
    return all;
  });
}

task<choice> choose_by_gate(visit& v) {
  const bool at_random =
    v.option("request") != 0 && !is_held_out(v.on, v.in.visit.client);
  std::vector<std::uint32_t> asked;
  if (at_random)
    asked = co_await any_of_them(v);
  else
    asked = co_await asked_for(v, split::train, v.on.rows);
  const auto models = v.on.blocks.family(model_family);
  const auto buffers = v.on.blocks.family(buffers_family);
  choice x;
  for (const auto i : asked)
    x.chosen.push_back(models[i]);
  for (const auto i : asked)
    if (!buffers.empty())
      x.chosen.push_back(buffers[i]);
  x.disclosures["request"].assign(asked.begin(), asked.end());
  co_return x;
}

} // namespace

const local_method top_of_gate{.choose = choose_by_gate};

} // namespace troupe::models
