// FDLoRA (Qi et al. 2024): an adapter that is merged and one that the client
// keeps, which learn together from one gradient; and in the end, once, two
// numbers that say how much of either the client uses, found on its validation
// rows without a derivative. As the reference has it (`adapters` = "one") there
// is but one adapter, and what is fused are its factors: as the client left
// them, and as they are merged. Those of attention stay as the client left
// them.

#include <cmath>
#include <optional>
#include <string>

#include "models/adapters/block_parts.hpp"
#include "models/adapters/factor_halves.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/common_adapter.hpp"
#include "models/methods/compass_search.hpp"
#include "models/methods/lines.hpp"

namespace troupe::models {

namespace {

/// How much of its own and of the merged a client uses, and whether it has
/// looked for that.
constexpr std::string_view fusion_family = "fusion";
constexpr const char* fused_counter = "fusion.found";

/// The reference's budget, and its price of weights.
constexpr std::size_t evaluations = 10;
constexpr double price = 0.05;

bool has_two(const local_problem& on) {
  return option_of(on.how, "adapters") == 0;
}

result<void> check_two(const local_problem& on) {
  return has_two(on) ? check_own_plan(on.own_adapters) : result<void>{};
}

result<client_adapters> begin_two(const visit& v) {
  return check_two(v.on)
    .and_then([&] { return take_common(v); })
    .and_then([&](const base_block& base) -> result<client_adapters> {
      client_adapters now{.common = brought_here(base.values), .own = {}};
      if (!has_two(v.on))
        return now;
      const auto fresh = initial_adapter(*v.on.own_adapters,
                                         derive_seed(v.in.seed, "own adapter"));
      return kept_or(v.in.state.get(), own_adapter_family, fresh)
        .map([&](std::span<const float> own) {
          now.own.assign(own.begin(), own.end());
          return std::move(now);
        });
    });
}

/// Steps of both. Gives the mean loss before them.
task<double> learn(visit& v, client_adapters& now) {
  auto by = optimiser_of_common(v);
  std::optional<optimiser> of_own;
  if (has_two(v.on))
    of_own.emplace(v.on, now.own.size(), v.in.state.get(),
                   std::string{own_adapter_family});
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    total += co_await differentiate(v, now.on(v.on), from.next_batch());
    auto slopes = co_await pull_back(v.on, {*v.on.adapters, now.common});
    factors along_own;
    if (of_own)
      along_own = co_await pull_back(v.on, {*v.on.own_adapters, now.own});
    co_await v.update(by.next(now.common, slopes));
    if (of_own)
      co_await v.update(of_own->next(now.own, along_own));
  }
  by.keep(v.out.next);
  if (of_own)
    of_own->keep(v.out.next);
  co_return total / static_cast<double>(v.plan.steps);
}

using weights = compass_search::point; ///< Of its own, and of the merged.

/// All of a client's own: what it has left.
weights unfused(const local_problem& on) {
  return has_two(on) ? weights{1, 1} : weights{1, 0};
}

result<void> keep_weights(visit& v, const weights& x) {
  const factors both{static_cast<float>(x[0]), static_cast<float>(x[1])};
  return v.keep(fusion_family, both);
}

task<done> train_two(visit& v) {
  auto now = co_await begin_two(v);
  const auto base = co_await take_common(v);
  v.out.loss = co_await learn(v, now);
  if (has_two(v.on))
    co_await v.keep(own_adapter_family, now.own);
  co_await keep_weights(v, unfused(v.on));
  co_await offer_common(base, now.common, v);
  co_return {};
}

/// a x + b y
result<factors> sum_of(const local_problem& on, double a, const factors& x,
                       double b, const factors& y) {
  factors sum(x.size());
  return on.arithmetic.move(sum, static_cast<float>(a), x, sum)
    .and_then(
      [&] { return on.arithmetic.move(sum, static_cast<float>(b), y, sum); })
    .map([&] { return std::move(sum); });
}

/// An adapter whose product is so many times this one's: of the factors, the
/// outer ones are.
result<factors> times_adapter(const local_problem& on, const adapter_plan& plan,
                              double by, const factors& x) {
  const auto outer = gather(plan, factor_half::outer, x);
  return sum_of(on, by, outer, 0, outer).map([&](const factors& scaled) {
    auto result = x;
    scatter(plan, factor_half::outer, scaled, result);
    return result;
  });
}

/// What is on a client's model.
result<client_adapters> fused(const local_problem& on, const client_adapters& x,
                              const weights& by) {
  if (!has_two(on))
    return sum_of(on, by[0], x.own, by[1], x.common).map([&](factors both) {
      put_attention(*on.adapters, x.own, both);
      return client_adapters{.common = std::move(both), .own = {}};
    });
  return times_adapter(on, *on.adapters, by[1], x.common)
    .and_then([&](factors common) {
      return times_adapter(on, *on.own_adapters, by[0], x.own)
        .map([&](factors own) {
          return client_adapters{.common = std::move(common),
                                 .own = std::move(own)};
        });
    });
}

/// Its own, and the merged one as it is or as the client left it. Of the one
/// adapter, its own is what it left.
result<client_adapters> parts_of(const visit& v, moment when) {
  return begin_two(v).and_then(
    [&](client_adapters now) -> result<client_adapters> {
      const auto left =
        kept_or(v.in.state.get(), left_adapter_family, now.common);
      if (!left)
        return tl::unexpected{left.error()};
      if (!has_two(v.on))
        now.own.assign(left->begin(), left->end());
      if (when == moment::as_left)
        now.common = factors(left->begin(), left->end());
      return now;
    });
}

task<done> fuse(visit& v) {
  const auto rows = spread_rows(v.validation_rows(), v.on.how.batch_size);
  if (rows.empty()) // What it has left stays as it is.
    co_return {};
  const auto parts = co_await parts_of(v, moment::as_merged);
  compass_search search{evaluations};
  while (search.goes_on()) {
    const auto at = search.next();
    const auto tried = co_await fused(v.on, parts, at);
    co_await compose(v.on, tried.on(v.on));
    const auto scored = co_await v.score(split::train, rows);
    search.tell(scored.mean_loss()
                + price * (std::abs(at[0]) + std::abs(at[1])) / 2);
  }
  v.out.loss = search.least();
  ++v.out.next.counters[fused_counter];
  co_await keep_weights(v, search.best());
  co_return {};
}

bool has_fused(const client_state* x) {
  return x != nullptr && x->counters.contains(fused_counter);
}

/// A newcomer has the merged one alone.
task<done> two_adapters_home(visit& v) {
  const auto* state = v.in.state.get();
  const auto when = has_fused(state) ? moment::as_merged : moment::as_left;
  const auto parts = co_await parts_of(v, when);
  const auto whole = unfused(v.on);
  const factors otherwise{static_cast<float>(whole[0]),
                          static_cast<float>(whole[1])};
  const auto kept = co_await kept_or(state, fusion_family, otherwise);
  const weights by{static_cast<double>(kept[0]), static_cast<double>(kept[1])};
  auto own = co_await fused(v.on, parts, by);
  if (state == nullptr)
    own.own.clear();
  co_await compose(v.on, own.on(v.on));
  co_return {};
}

} // namespace

const local_method two_adapters_sgd{.train = train_two,
                                    .home = two_adapters_home};
const local_method fuse_adapters{.train = fuse, .home = two_adapters_home};

} // namespace troupe::models
