// PF2LoRA. A client's model is the frozen one with two adapters on it, one that
// all have in common and one of its own: W0 + x + y. Each step moves y once, by
// plain SGD, and then x along the hypergradient of the loss through that step,
//
//   y' = y - a F_y(x, y),   h = F_x(x, y') - a F_xy(x, y) F_y(x, y').
//
// The second derivative is that of the old y, the first ones are of the new.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "models/methods/built_in.hpp"
#include "models/methods/common_adapter.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;
using row_list = std::vector<std::uint32_t>;

/// Which of the two adapters on a model.
constexpr std::size_t of_common = 0;
constexpr std::size_t of_own = 1;

/// What makes a step of the publication's into one of its ablations.
struct two_level_options {
  double inner_rate = 0; ///< a, of this step: a schedule holds for both levels.
  bool first_order = false;  ///< Without the second derivative.
  bool joint = false;        ///< Both gradients are of the old point.
  bool four_batches = false; ///< One for each derivative; else two.

  bool bends() const noexcept {
    return !joint && !first_order && inner_rate != 0;
  }

  /// The second derivative is of the rows of y's step, at the same point.
  bool bends_what_it_descends() const noexcept {
    return bends() && !four_batches;
  }
};

two_level_options options_of(const visit& v, std::uint64_t made) {
  return {.inner_rate = inner_rate_at(v, made),
          .first_order = v.option("first_order") != 0,
          .joint = v.option("joint") != 0,
          .four_batches = v.option("four_batches") != 0};
}

/// One step's batches: of y's step and the second derivative, of x's gradient
/// and the vector that the second derivative is taken along. All draws of a
/// step are equal: it is one function that is differentiated.
struct step_batches {
  row_list inner, outer, along, curve;
  std::uint64_t seed;

  step_batches(batch_sequence& from, bool four) : seed(from.draw()) {
    const auto next = [&] {
      const auto rows = from.next();
      return row_list{rows.begin(), rows.end()};
    };
    inner = next();
    outer = next();
    along = four ? next() : outer;
    curve = four ? next() : inner;
  }
};

/// x and y as they are on a model.
planned_adapters both(const visit& v, floats x, floats y) {
  return {{*common_plan(v.on), x}, {*own_plan(v.on), y}};
}

/// F_y(x, y), to be bent if that comes next.
task<kept_loss> inner_gradient(visit& v, const client_adapters& now,
                               const step_batches& on, two_level_options how) {
  const auto at = both(v, now.common, now.own);
  if (how.bends_what_it_descends())
    co_return co_await differentiate_and_keep(v, at, {on.inner, on.seed});
  kept_loss found;
  found.loss = co_await differentiate(v, at, {on.inner, on.seed}, of_own);
  co_return found;
}

/// h of x, where y has become y'.
/// @param inner what there is of F_y(x, y); null: nothing
task<factors> hypergradient(visit& v, const client_adapters& now,
                            const factors& moved, const step_batches& on,
                            two_level_options how, kept_gradient* inner) {
  const auto& point = how.joint ? now.own : moved;
  // Of two batches, the second gives both slopes.
  std::optional<std::size_t> alone;
  if (!how.bends() || how.four_batches)
    alone = of_common;
  co_await differentiate(v, both(v, now.common, point), {on.outer, on.seed},
                         alone);
  auto slopes = co_await pull_back(v.on, {*common_plan(v.on), now.common});
  if (!how.bends())
    co_return slopes;
  if (how.four_batches)
    co_await differentiate(v, both(v, now.common, moved), {on.along, on.seed},
                           of_own);
  const auto along = co_await pull_back(v.on, {*own_plan(v.on), moved});
  const auto bent =
    co_await bend(v, both(v, now.common, now.own), of_own, of_common, along,
                  {on.curve, on.seed}, {}, inner);
  co_await v.move(slopes, slopes, -how.inner_rate, bent);
  co_return slopes;
}

/// The client's own adapter. One that begins away from zero begins apart from
/// the common one, too.
result<factors> own_adapter(const visit& v, const factors& common) {
  const auto& plan = *own_plan(v.on);
  auto fresh = initial_adapter(plan, derive_seed(v.in.seed, "own adapter"));
  if (plan.start == factor_start::both_normal)
    make_orthogonal(plan, fresh, {*common_plan(v.on), common});
  return kept_or(v.in.state.get(), own_adapter_family, fresh)
    .map([](floats own) { return factors(own.begin(), own.end()); });
}

task<done> train_two_level(visit& v) {
  co_await check_own_plan(own_plan(v.on));
  const auto base = co_await take_common(v);
  client_adapters now{.common = brought_here(base.values), .own = {}};
  now.own = co_await own_adapter(v, now.common);
  count_lost(v);
  auto by = optimiser_of_common(v);
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const auto how = options_of(v, i);
    const step_batches on{from, how.four_batches};
    const auto inner = co_await inner_gradient(v, now, on, how);
    total += inner.loss;
    auto moved = now.own;
    const auto own = co_await pull_back(v.on, {*own_plan(v.on), now.own});
    co_await v.move(moved, moved, -how.inner_rate, own);
    auto slopes =
      co_await hypergradient(v, now, moved, on, how, inner.gradient.get());
    now.own = std::move(moved);
    co_await v.update(by.next(now.common, slopes));
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  keep_of_common(by, v);
  co_await v.keep(own_adapter_family, now.own);
  co_await offer_common(base, now.common, v);
  co_return {};
}

// A derivative along a direction costs what two gradients do.
std::uint64_t two_level_passes(const training_options& how) {
  const bool plain = option_of(how, "first_order") != 0
                     || option_of(how, "joint") != 0
                     || option_of(how, "inner_rate") == 0;
  if (plain)
    return 2;
  return option_of(how, "four_batches") != 0 ? 5 : 4;
}

} // namespace

const local_method two_level_sgd{.train = train_two_level,
                                 .home = common_home,
                                 .summary = summarise_adapters,
                                 .passes = two_level_passes};

} // namespace troupe::models
