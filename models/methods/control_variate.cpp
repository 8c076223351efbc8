// SCAFFOLD (Karimireddy et al. 2020). A step follows g + c - c_i, and after K
// steps from x to y the client's control variate becomes
//
//   c_i+ = c_i - c + (x - y) / D,   D = K eta   (option II),
//
// which is the mean of the gradients it saw. With momentum rho, the gradient of
// step t moves the model by eta (1 - rho^(K-t)) / (1 - rho) until the visit
// ends, so D is the sum of these and c_i+ a weighted mean of the gradients:
// dividing by K eta, as is often done, makes it 1 / (1 - rho) times too large
// and can diverge. Weight decay counts as part of the loss. An adaptive
// optimiser's path is no sum of gradients at all; it is refused.

#include <cmath>

#include "models/methods/built_in.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

double effective_rate(double rate, double momentum, std::uint64_t steps) {
  double sum = 0;
  for (std::uint64_t t = 0; t < steps; ++t)
    sum += momentum == 0
             ? 1
             : (1 - std::pow(momentum, static_cast<double>(steps - t)))
                 / (1 - momentum);
  return rate * sum;
}

task<done> train_controlled(visit& v) {
  const auto size = v.parameters().size();
  const auto control = co_await v.base(control_family, size);
  const auto own = co_await v.own_or(own_control_family, v.room(size));
  const auto base = co_await v.take();
  const auto correction = v.room(size);
  co_await v.move(correction, control.values, -1, own);
  v.out.loss =
    co_await v.descend(v.plan.steps, v.in.seed, {.correction = correction});
  const auto rate = effective_rate(v.on.rate, v.on.how.momentum, v.plan.steps);
  const auto next = v.room(size);
  co_await v.on.arithmetic.mean_slope(base.values, v.parameters(), rate,
                                      correction, next);
  co_await v.offer_model(base);
  co_await v.offer({control.layout, own}, next);
  co_await v.keep(own_control_family, next);
  co_return {};
}

} // namespace

const local_method controlled_sgd{.train = train_controlled,
                                  .needs = check_sgd};

} // namespace troupe::models
