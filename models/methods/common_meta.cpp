// Per-FedAvg on the factors x of one adapter over a frozen model: what is
// learned is where one step of plain SGD ends well,
//
//   x' = x - a F_x(x),   g = (1 - a F_xx(x)) F_x(x').
//
// Two batches a step, one for what is taken at x and one for what is at x';
// `three_batches = 1` gives F_xx its own, as Fallah et al. have it.

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
  const planned_adapter at{*common_plan(v.on), x};
  slopes_at found;
  found.loss = co_await differentiate(v, planned_adapters(1, at), on);
  found.along = co_await pull_back(v.on, at);
  co_return found;
}

task<done> train_common_meta(visit& v) {
  const bool plain =
    v.option("first_order") != 0 || v.option("inner_rate") == 0;
  const bool three = v.option("three_batches") != 0;
  const auto base = co_await take_common(v);
  const bool inside = v.on.model.inside() != nullptr;
  factors x = brought_here(base.values);
  auto by = optimiser_of_common(v);
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  // Of what is composed the slope is needed again.
  const auto of_model = inside ? array{} : v.room(v.parameters().size());
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const auto inner = inner_rate_at(v, i);
    const auto seed = from.draw();
    auto first = next_rows(from);
    const auto before = co_await slopes_of(v, x, {first, seed});
    total += before.loss;
    if (!inside)
      co_await v.copy(v.gradient(), of_model);
    const auto moved = co_await stepped(v, x, before.along, inner);
    const auto second = next_rows(from);
    auto slopes = (co_await slopes_of(v, moved, {second, seed})).along;
    if (!plain && three)
      first = next_rows(from);
    if (!plain && three && !inside) {
      co_await slopes_of(v, x, {first, seed});
      co_await v.copy(v.gradient(), of_model);
    }
    if (!plain) {
      const planned_adapter at{*common_plan(v.on), x};
      const auto bent = co_await bend(v, planned_adapters(1, at), 0, 0, slopes,
                                      {first, seed}, of_model);
      slopes = co_await stepped(v, std::move(slopes), bent, inner);
    }
    co_await v.update(by.next(x, slopes));
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  keep_of_common(by, v);
  co_await offer_common(base, x, v);
  co_return {};
}

} // namespace

task<factors> stepped_at_home(visit& v, factors from) {
  const auto client = v.in.visit.client;
  if (client.value == 0 || v.on.rows.empty())
    co_return from;
  const planned_adapter shared{*common_plan(v.on), from};
  batch_sequence batches{v.on.rows, v.on.how,
                         derive_seed(client.value, "home")};
  const kept_statistics statistics{v.on.model};
  co_await differentiate(v, planned_adapters(1, shared), {batches.next()});
  const auto slopes = co_await pull_back(v.on, shared);
  v.forget_gradient();
  co_return co_await stepped(v, std::move(from), slopes,
                             v.option("inner_rate"));
}

namespace {

task<done> common_meta_home(visit& v) {
  const auto own =
    co_await stepped_at_home(v, common_of(v.in.fetched, v.on).copy());
  co_await compose(v.on, planned_adapters(1, {*common_plan(v.on), own}));
  co_return {};
}

std::uint64_t common_meta_passes(const training_options& how) {
  if (option_of(how, "first_order") != 0 || option_of(how, "inner_rate") == 0)
    return 2;
  return option_of(how, "three_batches") != 0 ? 5 : 4;
}

} // namespace

const local_method common_meta_sgd{.train = train_common_meta,
                                   .home = common_meta_home,
                                   .summary = summarise_meta_adapters,
                                   .passes = common_meta_passes};

} // namespace troupe::models
