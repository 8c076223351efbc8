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

namespace troupe::models {

namespace {

using row_list = std::vector<std::uint32_t>;

result<factors> stepped(const visit& v, factors x, const factors& slopes,
                        double rate) {
  return v.move(x, x, -rate, slopes).map([&] { return std::move(x); });
}

row_list next_rows(batch_sequence& from) {
  const auto rows = from.next();
  return {rows.begin(), rows.end()};
}

/// F_x(x), and the loss.
struct slopes_at {
  double loss = 0;
  factors along;
};

task<slopes_at> slopes_of(visit& v, const factors& x, batch on) {
  const planned_adapter at{*v.on.adapters, x};
  slopes_at found;
  found.loss = co_await differentiate(v, planned_adapters(1, at), on);
  found.along = co_await pull_back(v.on, at);
  co_return found;
}

/// F_xx(x) along a direction, where the model's gradient is known.
task<factors> second_derivative(visit& v, const factors& x,
                                const factors& along, array of_model,
                                batch on) {
  const auto& plan = *v.on.adapters;
  const planned_adapter at{plan, x};
  co_await compose(v.on, planned_adapters(1, at));
  co_await curve_along(v, at, along, on, v.scratch());
  auto sum = co_await pull_back(v.on, at);
  co_await v.copy(of_model, v.gradient());
  auto of_factors = co_await pull_back(v.on, {plan, along});
  for (const auto& m : plan.matrices) {
    const auto size = m.v_at + m.rank * m.columns - m.u_at;
    const auto to = array{sum}.part(m.u_at, size);
    co_await v.move(to, to, 1, array{of_factors}.part(m.u_at, size));
  }
  co_return sum;
}

task<done> train(visit& v) {
  const auto inner =
    v.option("inner_rate") * v.on.rate / v.on.how.learning_rate;
  const bool plain = v.option("first_order") != 0 || inner == 0;
  const bool three = v.option("three_batches") != 0;
  const auto base = co_await take_common(v);
  factors x = brought_here(base.values);
  auto by = optimiser_of_common(v);
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  const auto of_model = v.room(v.parameters().size());
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const auto seed = from.draw();
    auto first = next_rows(from);
    const auto before = co_await slopes_of(v, x, {first, seed});
    total += before.loss;
    co_await v.copy(v.gradient(), of_model);
    const auto moved = co_await stepped(v, x, before.along, inner);
    const auto second = next_rows(from);
    auto slopes = (co_await slopes_of(v, moved, {second, seed})).along;
    if (!plain && three) {
      first = next_rows(from);
      co_await slopes_of(v, x, {first, seed});
      co_await v.copy(v.gradient(), of_model);
    }
    if (!plain) {
      const auto bent =
        co_await second_derivative(v, x, slopes, of_model, {first, seed});
      slopes = co_await stepped(v, std::move(slopes), bent, inner);
    }
    co_await v.update(by.next(x, slopes));
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  by.keep(v.out.next);
  co_await offer_common(base, x, v);
  co_return {};
}

} // namespace

task<factors> stepped_at_home(visit& v, factors from) {
  const auto client = v.in.visit.client;
  if (client.value == 0 || v.on.rows.empty())
    co_return from;
  const planned_adapter shared{*v.on.adapters, from};
  co_await compose(v.on, planned_adapters(1, shared));
  batch_sequence batches{v.on.rows, v.on.how,
                         derive_seed(client.value, "home")};
  const kept_statistics statistics{v.on.model};
  v.forget_gradient();
  co_await v.differentiate({batches.next()});
  const auto slopes = co_await pull_back(v.on, shared);
  v.forget_gradient();
  co_return co_await stepped(v, std::move(from), slopes,
                             v.option("inner_rate"));
}

namespace {

task<done> home(visit& v) {
  const auto own =
    co_await stepped_at_home(v, common_of(v.in.fetched, v.on).copy());
  co_await compose(v.on, planned_adapters(1, {*v.on.adapters, own}));
  co_return {};
}

std::uint64_t passes(const training_options& how) {
  if (option_of(how, "first_order") != 0 || option_of(how, "inner_rate") == 0)
    return 2;
  return option_of(how, "three_batches") != 0 ? 5 : 4;
}

} // namespace

const local_method common_meta_sgd{.train = train,
                                   .home = home,
                                   .summary = summarise_meta_adapters,
                                   .passes = passes};

} // namespace troupe::models
