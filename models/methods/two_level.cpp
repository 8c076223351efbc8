// PF2LoRA. A client's model is the frozen one with two adapters on it, one that
// all have in common and one of its own: W0 + x + y. Each step moves y once, by
// plain SGD, and then x along the hypergradient of the loss through that step,
//
//   y' = y - a F_y(x, y),   h = F_x(x, y') - a F_xy(x, y) F_y(x, y').
//
// The second derivative is that of the old y, the first ones are of the new.
// Since x and y meet only in the model W, F_xy v is what the curvature of the
// loss along dW = (what y's product changes by along v) means for x's factors.

#include <string>

#include "models/methods/built_in.hpp"
#include "models/methods/common_adapter.hpp"
#include "models/methods/local_loop.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;
using row_list = std::vector<std::uint32_t>;

/// What makes a step of the publication's into one of its ablations.
struct two_level_options {
  double inner_rate = 0;     ///< a.
  bool first_order = false;  ///< Without the second derivative.
  bool joint = false;        ///< Both gradients are of the old point.
  bool four_batches = false; ///< One for each derivative; else two.
};

two_level_options options_of(const local_problem& on) {
  // A schedule holds for both levels.
  return {.inner_rate =
            option_or(on.how, "inner_rate", 0) * on.rate / on.how.learning_rate,
          .first_order = option_or(on.how, "first_order", 0) != 0,
          .joint = option_or(on.how, "joint", 0) != 0,
          .four_batches = option_or(on.how, "four_batches", 0) != 0};
}

/// One step's batches: of y's step and the second derivative, of x's gradient
/// and the vector that the second derivative is taken along.
struct step_batches {
  row_list inner, outer, along, curve;

  step_batches(batch_sequence& from, bool four) {
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

class two_levels {
public:
  two_levels(local_problem& on, const client_state* state,
             client_adapters& what)
    : on_(on),
      how_(options_of(on)),
      what_(what),
      outer_(on, state, what.common.size()) {
    // nop
  }

  /// Returns the mean loss before the steps.
  result<double> run(std::uint64_t steps, std::uint64_t seed) {
    batch_sequence batches{on_.rows, on_.how, seed};
    double total = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
      const auto loss =
        step({batches, how_.four_batches}, derive_seed(seed, "operators", i));
      if (!loss)
        return loss;
      total += *loss;
    }
    return total / static_cast<double>(steps);
  }

  const common_optimiser& outer() const {
    return outer_;
  }

private:
  planned_adapter common() const {
    return {*on_.adapters, what_.common};
  }

  planned_adapter own() const {
    return {*on_.own_adapters, what_.own};
  }

  /// Makes the model live with this y, and differentiates.
  result<double> at(floats own, const row_list& rows, std::uint64_t seed) {
    return compose(on_, {common(), {*on_.own_adapters, own}}).and_then([&] {
      return differentiate(on_, rows, seed);
    });
  }

  /// All draws of a step are equal: it is one function that is differentiated.
  result<double> step(const step_batches& batches, std::uint64_t seed) {
    const auto loss = at(what_.own, batches.inner, seed);
    if (!loss)
      return loss;
    const auto inner = pull_back(on_, own());
    if (!inner)
      return tl::unexpected{inner.error()};
    auto moved = what_.own;
    const auto rate = static_cast<float>(how_.inner_rate);
    for (std::size_t j = 0; j < moved.size(); ++j)
      moved[j] -= rate * (*inner)[j];
    auto slopes = hypergradient(moved, batches, seed);
    if (!slopes)
      return tl::unexpected{slopes.error()};
    what_.own = std::move(moved);
    if (auto ok = outer_.step(what_.common, *slopes); !ok)
      return tl::unexpected{ok.error()};
    return loss;
  }

  result<std::vector<float>> hypergradient(const std::vector<float>& moved,
                                           const step_batches& batches,
                                           std::uint64_t seed) {
    const auto& point = how_.joint ? what_.own : moved;
    if (const auto ok = at(point, batches.outer, seed); !ok)
      return tl::unexpected{ok.error()};
    auto slopes = pull_back(on_, common());
    if (!slopes || how_.joint || how_.first_order || how_.inner_rate == 0)
      return slopes;
    if (how_.four_batches)
      if (const auto ok = at(moved, batches.along, seed); !ok)
        return tl::unexpected{ok.error()};
    const auto along = pull_back(on_, {*on_.own_adapters, moved});
    if (!along)
      return along;
    const auto bent = mixed_derivative(*along, batches.curve, seed);
    if (!bent)
      return bent;
    const auto rate = static_cast<float>(how_.inner_rate);
    for (std::size_t j = 0; j < slopes->size(); ++j)
      (*slopes)[j] -= rate * (*bent)[j];
    return slopes;
  }

  /// F_xy(x, y) along a direction of y, at the y that the step began with.
  result<std::vector<float>>
  mixed_derivative(floats along, const row_list& rows, std::uint64_t seed) {
    const auto done = compose(on_, {common(), own()}).and_then([&] {
      return curve_along(on_, own(), along, rows, seed);
    });
    if (!done)
      return tl::unexpected{done.error()};
    return pull_back(on_, common());
  }

  local_problem& on_;
  two_level_options how_;
  client_adapters& what_;
  common_optimiser outer_;
};

/// It has trained, so it had one.
bool lost_its_own(const client_state* x) {
  return x != nullptr && x->counters.contains(steps_counter)
         && !x->blocks.contains(std::string{own_adapter_family});
}

/// The client's own adapter. One that begins away from zero begins apart from
/// the common one, too.
result<std::vector<float>> own_adapter(const visit_input& x,
                                       const local_problem& on, floats common) {
  auto fresh =
    initial_adapter(*on.own_adapters, derive_seed(x.seed, "own adapter"));
  if (on.own_adapters->start == factor_start::both_normal)
    make_orthogonal(*on.own_adapters, fresh, {*on.adapters, common});
  return own_or(x.state.get(), own_adapter_family, fresh).map([](floats own) {
    return std::vector<float>(own.begin(), own.end());
  });
}

} // namespace

result<trained> two_level_sgd(const visit_input& x, local_problem& on) {
  if (on.own_adapters == nullptr)
    return fail(errc::invalid_config,
                "the recipe has no option 'own_budget', the rank of the "
                "adapters that clients keep");
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto base = begin_common(x, on);
  if (!base)
    return tl::unexpected{base.error()};
  auto own = own_adapter(x, on, base->values);
  if (!own)
    return tl::unexpected{own.error()};
  if (lost_its_own(x.state.get()))
    ++out.next.counters[lost_counter];
  client_adapters what{.common = {base->values.begin(), base->values.end()},
                       .own = std::move(*own)};
  two_levels levels{on, x.state.get(), what};
  const auto loss = levels.run(plan.steps, x.seed);
  std::ranges::fill(on.model.gradient(), 0.f);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  levels.outer().keep(out.next);
  const auto done = keep(own_adapter_family, what.own, out.next).and_then([&] {
    return end_common(*base, what.common, on, out);
  });
  if (!done)
    return tl::unexpected{done.error()};
  return out;
}

// A derivative along a direction costs what two gradients do.
std::uint64_t two_level_passes(const training_options& how) {
  const bool plain = option_or(how, "first_order", 0) != 0
                     || option_or(how, "joint", 0) != 0
                     || option_or(how, "inner_rate", 0) == 0;
  if (plain)
    return 2;
  return option_or(how, "four_batches", 0) != 0 ? 5 : 4;
}

} // namespace troupe::models
