// Per-FedAvg on the factors x of one adapter over a frozen model: what is
// learned is where one step of plain SGD ends well,
//
//   x' = x - a F_x(x),   g = (1 - a F_xx(x)) F_x(x').
//
// The model W is not linear in the factors, so F_xx v has two parts: the
// curvature of the loss along dW, and its slope at x with the factors of v in
// the place of x's. Two batches a step, one for what is taken at x and one for
// what is at x'; `three_batches = 1` gives F_xx its own, as Fallah et al. have
// it.

#include "models/methods/built_in.hpp"
#include "models/methods/common_adapter.hpp"
#include "models/methods/local_loop.hpp"

namespace troupe::models {

namespace {

using row_span = std::span<const std::uint32_t>;
using row_list = std::vector<std::uint32_t>;

double inner_rate_of(const local_problem& on) {
  return option_or(on.how, "inner_rate", 0) * on.rate / on.how.learning_rate;
}

std::vector<float> stepped(std::vector<float> x,
                           const std::vector<float>& slopes, double rate) {
  for (std::size_t j = 0; j < x.size(); ++j)
    x[j] -= static_cast<float>(rate) * slopes[j];
  return x;
}

class meta_learner {
public:
  meta_learner(local_problem& on, std::vector<float>& x)
    : on_(on),
      x_(x),
      rate_(inner_rate_of(on)) {
    // nop
  }

  /// The gradient through a step, to be found at `gradient`. Returns the loss
  /// before it.
  result<double> differentiate_through(batch_sequence& batches,
                                       std::uint64_t seed) {
    const auto next = [&] {
      const auto rows = batches.next();
      return row_list{rows.begin(), rows.end()};
    };
    auto first = next();
    const auto loss = slopes_at(x_, first, seed);
    if (!loss)
      return loss;
    const auto live = on_.model.gradient();
    std::vector<float> of_model(live.begin(), live.end());
    const auto moved = stepped(x_, gradient, rate_);
    if (const auto after = slopes_at(moved, next(), seed); !after)
      return after;
    if (option_or(on_.how, "first_order", 0) != 0 || rate_ == 0)
      return loss;
    const auto along = gradient;
    if (option_or(on_.how, "three_batches", 0) != 0) {
      first = next();
      if (const auto again = slopes_at(x_, first, seed); !again)
        return again;
      of_model.assign(live.begin(), live.end());
    }
    const auto bent = second_derivative(along, of_model, first, seed);
    if (!bent)
      return tl::unexpected{bent.error()};
    gradient = stepped(along, *bent, rate_);
    return loss;
  }

  std::vector<float> gradient = {};

private:
  planned_adapter at(std::span<const float> x) const {
    return {*on_.adapters, x};
  }

  result<double> slopes_at(const std::vector<float>& x, row_span rows,
                           std::uint64_t seed) {
    const auto loss = compose(on_, {at(x)}).and_then([&] {
      return differentiate(on_, rows, seed);
    });
    if (!loss)
      return loss;
    auto found = pull_back(on_, at(x));
    if (!found)
      return tl::unexpected{found.error()};
    gradient = std::move(*found);
    return loss;
  }

  /// F_xx(x) along a direction, where the model's gradient is known.
  result<std::vector<float>>
  second_derivative(const std::vector<float>& along,
                    const std::vector<float>& of_model, row_span rows,
                    std::uint64_t seed) {
    const auto done = compose(on_, {at(x_)}).and_then([&] {
      return curve_along(on_, at(x_), along, rows, seed);
    });
    if (!done)
      return tl::unexpected{done.error()};
    auto sum = pull_back(on_, at(x_));
    if (!sum)
      return sum;
    std::ranges::copy(of_model, on_.model.gradient().begin());
    const auto factors = pull_back(on_, at(along));
    if (!factors)
      return factors;
    for (const auto& m : on_.adapters->matrices) {
      const auto end = m.v_at + m.rank * m.columns;
      for (auto j = m.u_at; j < end; ++j)
        (*sum)[j] += (*factors)[j];
    }
    return sum;
  }

  local_problem& on_;
  std::vector<float>& x_;
  double rate_;
};

/// Returns the mean loss before the steps.
result<double> learn(local_problem& on, common_optimiser& by,
                     std::vector<float>& adapter, std::uint64_t steps,
                     std::uint64_t seed) {
  batch_sequence batches{on.rows, on.how, seed};
  meta_learner learner{on, adapter};
  double total = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    const auto loss =
      learner.differentiate_through(batches, derive_seed(seed, "operators", i));
    if (!loss)
      return loss;
    total += *loss;
    if (auto ok = by.step(adapter, learner.gradient); !ok)
      return tl::unexpected{ok.error()};
  }
  return total / static_cast<double>(steps);
}

} // namespace

result<trained> common_meta_sgd(const visit_input& x, local_problem& on) {
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto base = begin_common(x, on);
  if (!base)
    return tl::unexpected{base.error()};
  std::vector<float> adapter(base->values.begin(), base->values.end());
  common_optimiser by{on, x.state.get(), adapter.size()};
  const auto loss = learn(on, by, adapter, plan.steps, x.seed);
  std::ranges::fill(on.model.gradient(), 0.f);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  by.keep(out.next);
  if (auto ok = end_common(*base, adapter, on, out); !ok)
    return tl::unexpected{ok.error()};
  return out;
}

result<std::vector<float>> stepped_at_home(std::vector<float> from,
                                           client_id client,
                                           local_problem& on) {
  if (client.value == 0 || on.rows.empty())
    return from;
  const planned_adapter shared{*on.adapters, from};
  if (auto ok = compose(on, {shared}); !ok)
    return tl::unexpected{ok.error()};
  batch_sequence batches{on.rows, on.how, derive_seed(client.value, "home")};
  const kept_statistics statistics{on.model};
  const auto slopes =
    differentiate(on, batches.next(), 0).and_then([&](double) {
      return pull_back(on, shared);
    });
  std::ranges::fill(on.model.gradient(), 0.f);
  if (!slopes)
    return tl::unexpected{slopes.error()};
  return stepped(std::move(from), *slopes, option_or(on.how, "inner_rate", 0));
}

result<void> common_meta_home(const home& x, local_problem& on) {
  return stepped_at_home(common_of(x.versions, on), x.client, on)
    .and_then([&](const std::vector<float>& own) {
      return compose(on, {{*on.adapters, own}});
    });
}

std::uint64_t common_meta_passes(const training_options& how) {
  if (option_or(how, "first_order", 0) != 0
      || option_or(how, "inner_rate", 0) == 0)
    return 2;
  return option_or(how, "three_batches", 0) != 0 ? 5 : 4;
}

} // namespace troupe::models
