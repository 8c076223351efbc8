// Methods that send one of an adapter's two factors. FFA-LoRA (Sun et al. 2024)
// freezes the inner one as it began, so that a mean of outer factors is a mean
// of products. FedSA-LoRA (Guo et al. 2025) shares the inner one and leaves the
// outer one with the client. A client keeps its adapter as it left it, and is
// scored with that.

#include "models/adapters/factor_halves.hpp"

#include <string>

#include "models/methods/built_in.hpp"
#include "models/methods/common_adapter.hpp"
#include "models/methods/merged_scores.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

constexpr auto inner = factor_half::inner;
constexpr auto outer = factor_half::outer;

result<base_block> fetched_half(const visit& v, factor_half half) {
  return v.base(half == inner ? inner_factors_family : outer_factors_family,
                size_of(tensors_of(v.on.adapters->tensors, half)));
}

/// The adapter as the client left it; at first, as the visit's seed says.
result<factors> left_adapter(const visit& v) {
  const auto fresh =
    initial_adapter(*v.on.adapters, derive_seed(v.in.seed, "own adapter"));
  return kept_or(v.in.state.get(), adapter_family, fresh).map([](floats x) {
    return factors(x.begin(), x.end());
  });
}

/// Nothing but outer factors learns: the others have no moments, and no decay.
class outer_steps {
public:
  explicit outer_steps(const visit& v)
    : plan_(*v.on.adapters),
      by_(v.on, size_of(tensors_of(plan_.tensors, outer)), v.in.state.get(),
          std::string{outer_factors_family}) {
    // nop
  }

  /// The next step, of a copy: `put` brings it into the adapter.
  optimiser::call next(const factors& adapter, const factors& slopes) {
    values_ = gather(plan_, outer, adapter);
    slopes_ = gather(plan_, outer, slopes);
    return by_.next(values_, slopes_);
  }

  void put(factors& adapter) const {
    scatter(plan_, outer, values_, adapter);
  }

  void keep(client_state& next) const {
    by_.keep(next);
  }

private:
  const adapter_plan& plan_;
  optimiser by_;
  factors values_, slopes_;
};

/// Both factors with what was fetched.
struct begun {
  base_block base;
  factors adapter;
};

/// Outer factors over frozen inner ones.
result<begun> begin_outer(const visit& v) {
  return begin_common(v)
    .and_then([&] { return fetched_half(v, outer); })
    .and_then([&](const base_block& base) {
      return v.frozen(inner_factors_family).map([&](const_array still) {
        begun x{base, factors(v.on.adapters->size())};
        scatter(*v.on.adapters, inner, brought_here(still), x.adapter);
        scatter(*v.on.adapters, outer, brought_here(base.values), x.adapter);
        return x;
      });
    });
}

/// Inner factors of all under a client's outer ones.
result<begun> begin_inner(const visit& v) {
  return begin_common(v)
    .and_then([&] { return fetched_half(v, inner); })
    .and_then([&](const base_block& base) {
      return left_adapter(v).map([&](factors own) {
        begun x{base, std::move(own)};
        scatter(*v.on.adapters, inner, brought_here(base.values), x.adapter);
        return x;
      });
    });
}

/// The gradient of both factors. Adds up the loss.
task<factors> slopes_of(visit& v, const factors& adapter, batch on,
                        double& total) {
  const planned_adapter x{*v.on.adapters, adapter};
  total += co_await differentiate(v, planned_adapters(1, x), on);
  co_return co_await pull_back(v.on, x);
}

result<void> offer_half(visit& v, factor_half half, const begun& x) {
  const auto now = gather(*v.on.adapters, half, x.adapter);
  return v.offer(x.base, now).and_then([&] {
    return v.keep(adapter_family, x.adapter);
  });
}

task<done> train_outer(visit& v) {
  auto x = co_await begin_outer(v);
  outer_steps by{v};
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const auto slopes =
      co_await slopes_of(v, x.adapter, from.next_batch(), total);
    co_await v.update(by.next(x.adapter, slopes));
    by.put(x.adapter);
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  by.keep(v.out.next);
  co_await offer_half(v, outer, x);
  co_return {};
}

task<done> train_both(visit& v) {
  auto x = co_await begin_inner(v);
  auto by = optimiser_of_common(v);
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    auto slopes = co_await slopes_of(v, x.adapter, from.next_batch(), total);
    co_await v.update(by.next(x.adapter, slopes));
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  by.keep(v.out.next);
  co_await offer_half(v, inner, x);
  co_return {};
}

/// Who has trained has what it left; else, and where the question is what a
/// merge made of it, what is merged counts.
using halves_beginning = result<begun> (*)(const visit& v);

task<done> halves_home_at(visit& v, halves_beginning begin, moment when) {
  const auto x = co_await begin(v);
  const auto left = co_await v.own_or(adapter_family, x.adapter);
  const auto now = when == moment::as_left ? brought_here(left) : x.adapter;
  co_await compose(v.on, planned_adapters(1, {*v.on.adapters, now}));
  co_return {};
}

template <halves_beginning Begin>
task<done> halves_home(visit& v) {
  return halves_home_at(v, Begin, moment::as_left);
}

template <halves_beginning Begin>
task<done> halves_merged_home(visit& v) {
  return halves_home_at(v, Begin, moment::as_merged);
}

template <halves_beginning Begin>
void summarise_halves(const evaluation_input& x, const local_problem& on,
                      evaluated& to) {
  score_merged(x, on, halves_merged_home<Begin>, to);
}

} // namespace

const local_method outer_sgd{.train = train_outer,
                             .home = halves_home<begin_outer>,
                             .summary = summarise_halves<begin_outer>};
const local_method shared_inner_sgd{.train = train_both,
                                    .home = halves_home<begin_inner>,
                                    .summary = summarise_halves<begin_inner>};

} // namespace troupe::models
