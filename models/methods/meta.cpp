// Per-FedAvg. What is learned is where one step of SGD ends well: with batches
// b, b' and b'' in turn,
//
//   w' = w - inner_rate * slope(w; b)
//   w  = w - rate * (1 - inner_rate * H(w; b'')) slope(w'; b')
//
// The first-order variant leaves H out; with `difference` above 0 its product
// is taken from two slopes so far to either side of w (the variant without
// Hessians). A client uses the model after one step on examples it trains on.

#include "models/methods/built_in.hpp"
#include "models/methods/visit.hpp"

namespace troupe::models {

namespace {

/// w + by * along, live.
void move(visit& v, std::span<const float> w, std::span<const float> along,
          double by) {
  const auto live = v.parameters();
  for (std::size_t j = 0; j < w.size(); ++j)
    live[j] = w[j] + static_cast<float>(by) * along[j];
}

} // namespace

task<done> meta_sgd(visit& v) {
  const auto inner = v.option("inner_rate");
  const auto difference = v.option("difference");
  const auto base = co_await v.take();
  const auto live = v.parameters();
  aligned_floats w(live.begin(), live.end());
  aligned_floats slope(w.size()), above(w.size()), below(w.size());
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    v.out.loss += co_await v.slope(from.next_batch(), slope)
                  / static_cast<double>(v.plan.steps);
    move(v, w, slope, -inner);
    co_await v.slope(from.next_batch(), slope);
    if (difference > 0) {
      const auto third = from.next_batch();
      move(v, w, slope, difference);
      co_await v.slope(third, above);
      move(v, w, slope, -difference);
      co_await v.slope(third, below);
      const auto part = static_cast<float>(inner / (2 * difference));
      for (std::size_t j = 0; j < w.size(); ++j)
        slope[j] -= part * (above[j] - below[j]);
    }
    move(v, w, slope, -v.on.rate);
    std::copy(live.begin(), live.end(), w.begin());
  }
  co_await v.offer_model(base);
  co_return {};
}

task<done> meta_home(visit& v) {
  const auto client = v.in.visit.client;
  if (client.value == 0 || v.on.rows.empty())
    co_return {};
  batch_sequence from{v.on.rows, v.on.how, derive_seed(client.value, "home")};
  aligned_floats slope(v.parameters().size());
  const kept_statistics statistics{v.on.model};
  co_await v.slope({from.next()}, slope);
  const auto live = v.parameters();
  const aligned_floats w(live.begin(), live.end());
  move(v, w, slope, -v.option("inner_rate"));
  co_return {};
}

std::uint64_t meta_passes(const training_options& how) {
  return option_of(how, "difference") > 0 ? 4 : 2;
}

} // namespace troupe::models
