// Per-FedAvg (Fallah et al. 2020). What is learned is where one step of SGD
// ends well: with batches b, b' and b'' in turn,
//
//   w' = w - inner_rate * slope(w; b)
//   w  = w - rate * (1 - inner_rate * H(w; b'')) slope(w'; b')
//
// The first-order variant leaves H out; with `difference` above 0 its product
// is taken from two slopes so far to either side of w (the variant without
// Hessians). A client uses the model after one step on examples it trains on.

#include "models/methods/built_in.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

task<done> train_meta(visit& v) {
  const auto inner = v.option("inner_rate");
  const auto difference = v.option("difference");
  const auto base = co_await v.take();
  const auto live = v.parameters();
  const auto w = v.copy_of(live);
  const auto slope = v.room(w.size());
  const auto above = v.room(difference > 0 ? w.size() : 0);
  const auto below = v.room(above.size());
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    v.out.loss += co_await v.slope(from.next_batch(), slope)
                  / static_cast<double>(v.plan.steps);
    co_await v.move(live, w, -inner, slope);
    co_await v.slope(from.next_batch(), slope);
    if (difference > 0) {
      const auto third = from.next_batch();
      co_await v.move(live, w, difference, slope);
      co_await v.slope(third, above);
      co_await v.move(live, w, -difference, slope);
      co_await v.slope(third, below);
      co_await v.move(above, above, -1, below);
      co_await v.move(slope, slope, -inner / (2 * difference), above);
    }
    co_await v.move(w, w, -v.on.rate, slope);
    v.load(w);
  }
  co_await v.offer_model(base);
  co_return {};
}

task<done> meta_home(visit& v) {
  const auto client = v.in.visit.client;
  if (client.value == 0 || v.on.rows.empty())
    co_return {};
  batch_sequence from{v.on.rows, v.on.how, derive_seed(client.value, "home")};
  const auto live = v.parameters();
  const auto slope = v.room(live.size());
  const kept_statistics statistics{v.on.model};
  co_await v.slope({from.next()}, slope);
  co_await v.move(live, live, -v.option("inner_rate"), slope);
  co_return {};
}

std::uint64_t meta_passes(const training_options& how) {
  return option_of(how, "difference") > 0 ? 4 : 2;
}

} // namespace

const local_method meta_sgd{.train = train_meta,
                            .home = meta_home,
                            .passes = meta_passes,
                            .needs = check_plain_sgd};

} // namespace troupe::models
