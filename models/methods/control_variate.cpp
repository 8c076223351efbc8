// SCAFFOLD. A step follows g + c - c_i, and after K steps from x to y the
// client's control variate becomes
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

#include "models/aligned.hpp"
#include "models/families.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/visit_blocks.hpp"

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

} // namespace

result<trained> controlled_sgd(const visit_input& x, local_problem& on) {
  if (auto ok = check_sgd(on.method, on.how); !ok)
    return tl::make_unexpected(ok.error());
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto size = on.model.parameters().size();
  const auto control = base_of(x, on, control_family, size);
  if (!control)
    return tl::unexpected{control.error()};
  const std::vector<float> zeros(size);
  const auto own = own_or(x.state.get(), own_control_family, zeros);
  if (!own)
    return tl::unexpected{own.error()};
  const auto base = begin_model(x, on);
  if (!base)
    return tl::unexpected{base.error()};
  aligned_floats correction(size);
  for (std::size_t j = 0; j < size; ++j)
    correction[j] = control->values[j] - (*own)[j];
  const auto loss =
    run_steps(on, plan.steps, x.seed, {.correction = correction});
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  const auto rate = effective_rate(on.rate, on.how.momentum, plan.steps);
  const auto live = on.model.parameters();
  std::vector<float> next(size);
  for (std::size_t j = 0; j < size; ++j) {
    const auto moved = static_cast<double>(base->values[j]) - live[j];
    next[j] = static_cast<float>(moved / rate - correction[j]);
  }
  const auto done =
    end_model(x, on, *base, out)
      .and_then([&] {
        return offer_difference({control->layout, *own}, next, on, out);
      })
      .and_then([&] { return keep(own_control_family, next, out.next); });
  if (!done)
    return tl::unexpected{done.error()};
  return out;
}

} // namespace troupe::models
