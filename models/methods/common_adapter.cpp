#include "models/methods/common_adapter.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "models/inner_adapters.hpp"
#include "models/inner_setup.hpp"
#include "models/methods/built_in.hpp"
#include "models/visit/local_loop.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

result<void> check_has_base(const local_problem& on) {
  if (common_plan(on) == nullptr)
    return fail(errc::invalid_config,
                "the recipe trains an adapter and has no block of it");
  if (on.model.inside() != nullptr)
    return {}; // Its base is no block of values.
  if (on.frozen == nullptr || !on.frozen->contains(std::string{model_family}))
    return fail(errc::invalid_config,
                "the recipe's adapter belongs on a frozen block 'model', of "
                "which this task has no values");
  return {};
}

/// Nobody has routed experts here.
result<void> attach(const local_problem& on) {
  return on.model.inside() == nullptr ? result<void>{} : attach_for(on, 1);
}

/// The group of a plan's factors.
result<std::size_t> group_of(const local_problem& on,
                             const adapter_plan& plan) {
  auto name = adapter_family;
  if (&plan == own_plan(on))
    name = own_adapter_family;
  else if (&plan == attention_plan(on))
    name = attention_family;
  const auto& groups = on.model.inside()->groups();
  const auto found = std::ranges::find(groups, name, &inner_group::name);
  if (found == groups.end())
    return fail(errc::invalid_config,
                "the recipe trains " + in_quotes(name)
                  + ", and no such group stands inside the model's layers");
  return static_cast<std::size_t>(found - groups.begin());
}

/// Which of the groups these are, in their order.
result<std::vector<std::size_t>> groups_of(const local_problem& on,
                                           const planned_adapters& adapters) {
  std::vector<std::size_t> found;
  for (const auto& x : adapters) {
    const auto group = group_of(on, x.plan);
    if (!group)
      return tl::unexpected{group.error()};
    found.push_back(*group);
  }
  return found;
}

/// What `compose` is where adapters stand inside.
result<void> put_inside(const local_problem& on,
                        const planned_adapters& adapters) {
  if (auto ok = attach(on); !ok)
    return ok;
  const auto found = groups_of(on, adapters);
  if (!found)
    return tl::unexpected{found.error()};
  auto& inside = *on.model.inside();
  for (std::size_t g = 0; g < inside.groups().size(); ++g)
    inside.leave_out(g, std::ranges::count(*found, g) == 0);
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    const auto to = inside.values_of((*found)[i]);
    TROUPE_ASSERT(to.size() == adapters[i].values.size());
    std::ranges::copy(adapters[i].values, to.begin());
  }
  return {};
}

/// The same as `compose`. Of what stands inside those from the first to the
/// last learn from here on, which may be one, and nothing else does.
result<void> compose_to_learn(const local_problem& on,
                              const planned_adapters& adapters,
                              std::size_t first, std::size_t last) {
  if (auto ok = compose(on, adapters); !ok || on.model.inside() == nullptr)
    return ok;
  const auto found = groups_of(on, adapters);
  if (!found)
    return tl::unexpected{found.error()};
  const auto learning = std::span{*found}.subspan(first, last - first + 1);
  auto& inside = *on.model.inside();
  for (std::size_t g = 0; g < inside.groups().size(); ++g)
    inside.switch_on(g, std::ranges::count(learning, g) > 0);
  return {};
}

/// Where a group's factors begin among the parameters.
std::size_t beginning_of(std::size_t group, const inner_adapters& inside) {
  std::size_t at = 0;
  for (std::size_t g = 0; g < group; ++g)
    at += inside.groups()[g].plan.size();
  return at;
}

/// Where factors are all the parameters there are it is one product with the
/// Hessian: what moves is one group, and what is read another, or the same.
task<factors> bend_inside(visit& v, planned_adapters at, std::size_t wrt,
                          std::size_t of, floats direction, batch on,
                          kept_gradient* kept) {
  if (kept == nullptr)
    co_await compose_to_learn(v.on, at, std::min(wrt, of), std::max(wrt, of));
  const auto moving = co_await group_of(v.on, at[wrt].plan);
  const auto first = beginning_of(moving, *v.on.model.inside());
  const auto along = v.scratch();
  const auto moves = along.part(first, direction.size());
  co_await v.copy(direction, moves);
  v.forget_gradient();
  if (kept != nullptr)
    co_await v.curve(*kept, along);
  else
    co_await v.curve(on, along);
  const factors nothing(direction.size());
  co_await v.copy(nothing, moves); // Another group may move next.
  co_return co_await pull_back(v.on, at[of]);
}

} // namespace

const adapter_plan* common_plan(const local_problem& on) noexcept {
  if (on.adapters != nullptr)
    return on.adapters;
  return on.inside != nullptr && on.inside->adapter ? &*on.inside->adapter
                                                    : nullptr;
}

const adapter_plan* attention_plan(const local_problem& on) noexcept {
  return on.inside != nullptr && on.inside->attention ? &*on.inside->attention
                                                      : nullptr;
}

const adapter_plan* own_plan(const local_problem& on) noexcept {
  if (on.own_adapters != nullptr)
    return on.own_adapters;
  return on.inside != nullptr && on.inside->own_adapter
           ? &*on.inside->own_adapter
           : nullptr;
}

result<void> check_own_plan(const adapter_plan* own) {
  if (own != nullptr)
    return {};
  return fail(errc::invalid_config,
              "the recipe has no option 'own_rank', the rank of the adapters "
              "that clients keep");
}

void count_lost(visit& v) {
  const auto* state = v.in.state.get();
  if (state != nullptr && state->counters.contains(steps_counter)
      && !state->blocks.contains(std::string{own_adapter_family}))
    ++v.out.next.counters[lost_counter];
}

result<void> begin_common(const visit& v) {
  return check_has_base(v.on)
    .and_then([&] { return attach(v.on); })
    .and_then([&] { return v.load_buffers(buffers_family); });
}

result<base_block> take_common(const visit& v) {
  return begin_common(v).and_then(
    [&] { return v.base(adapter_family, common_plan(v.on)->size()); });
}

result<void> offer_common(const base_block& base, floats now, visit& v,
                          std::optional<double> weight) {
  return v.offer(base, now, weight).and_then([&] {
    return v.keep(left_adapter_family, now);
  });
}

double inner_rate_at(const visit& v, std::uint64_t made) {
  return v.option("inner_rate") * rate_at(v.on, made) / v.on.how.learning_rate;
}

result<void> compose(const local_problem& on,
                     const planned_adapters& adapters) {
  if (on.model.inside() != nullptr)
    return put_inside(on, adapters);
  constexpr double one[] = {1};
  const array live = on.model.parameters();
  const_array from = *on.frozen->at(std::string{model_family});
  for (const auto& x : adapters) {
    const floats values[] = {x.values};
    if (auto ok = adapter_mixture{x.plan, on.arithmetic}.compose(from, values,
                                                                 one, live);
        !ok)
      return ok;
    from = live;
  }
  return adapters.empty() ? on.arithmetic.copy(from, live) : result<void>{};
}

task<double> differentiate(visit& v, planned_adapters adapters, batch on,
                           std::optional<std::size_t> alone) {
  TROUPE_ASSERT(!adapters.empty());
  const auto last = adapters.size() - 1;
  co_await compose_to_learn(v.on, adapters, alone.value_or(0),
                            alone.value_or(last));
  v.forget_gradient();
  co_return co_await v.differentiate(on);
}

task<kept_loss> differentiate_and_keep(visit& v, planned_adapters adapters,
                                       batch on) {
  TROUPE_ASSERT(!adapters.empty());
  co_await compose_to_learn(v.on, adapters, 0, adapters.size() - 1);
  v.forget_gradient();
  co_return co_await v.differentiate_and_keep(on);
}

result<factors> pull_back(const local_problem& on, const planned_adapter& x) {
  if (auto* inside = on.model.inside())
    return group_of(on, x.plan).map([&](std::size_t group) {
      const auto slopes = inside->gradient_of(group);
      return factors(slopes.begin(), slopes.end());
    });
  constexpr double one[] = {1};
  const floats values[] = {x.values};
  adapter_mixture::slopes found;
  return adapter_mixture{x.plan, on.arithmetic}
    .pull_back(on.model.gradient(), values, one, found)
    .map([&] { return std::move(found.adapters.front()); });
}

// Composed, adapters meet only in the model W. So what `wrt` does to the slope
// of `of` is the curvature of the loss along dW, the change of W by `wrt`; and
// where both are one, W is not linear in its factors: to that comes the slope
// of the loss, with the factors of the direction in the place of those.
task<factors> bend(visit& v, planned_adapters at, std::size_t wrt,
                   std::size_t of, floats direction, batch on,
                   const_array slope, kept_gradient* kept) {
  TROUPE_ASSERT(wrt < at.size() && of < at.size());
  if (v.on.model.inside() != nullptr)
    co_return co_await bend_inside(v, at, wrt, of, direction, on, kept);
  const auto change = v.scratch();
  co_await compose(v.on, at);
  co_await push_forward(at[wrt], direction, v.on.arithmetic, change);
  v.forget_gradient();
  co_await v.curve(on, change);
  auto sum = co_await pull_back(v.on, at[of]);
  if (wrt != of)
    co_return sum;
  if (slope.empty()) {
    v.forget_gradient();
    co_await v.differentiate(on);
  } else {
    co_await v.copy(slope, v.gradient());
  }
  const auto& plan = at[of].plan;
  auto of_factors = co_await pull_back(v.on, {plan, direction});
  for (const auto& m : plan.matrices) {
    const auto size = m.v_at + m.rank * m.columns - m.u_at;
    const auto to = array{sum}.part(m.u_at, size);
    co_await v.move(to, to, 1, array{of_factors}.part(m.u_at, size));
  }
  co_return sum;
}

namespace {

const value_view& version_of(std::string_view name,
                             const std::vector<fetched_block>& versions,
                             const local_problem& on) {
  const auto* block = on.blocks.find(name);
  TROUPE_ASSERT(block != nullptr);
  const auto found =
    std::ranges::find(versions, block->id, &fetched_block::block);
  TROUPE_ASSERT(found != versions.end());
  return *found->values;
}

/// What a client has left of what is beside attention.
floats attention_left(const client_state& state) {
  const auto found = state.blocks.find(left_of(attention_family));
  return found == state.blocks.end() ? floats{} : found->second.own_view();
}

} // namespace

const value_view& common_of(const std::vector<fetched_block>& versions,
                            const local_problem& on) {
  return version_of(adapter_family, versions, on);
}

floats attention_of(const std::vector<fetched_block>& versions,
                    const local_problem& on) {
  if (attention_plan(on) == nullptr)
    return {};
  return version_of(attention_family, versions, on);
}

planned_adapters client_adapters::on(const local_problem& problem) const {
  auto result = over_common(problem);
  if (const auto* plan = attention_plan(problem);
      plan != nullptr && !attention.empty())
    result.push_back({*plan, attention});
  return result;
}

planned_adapters
client_adapters::over_common(const local_problem& problem) const {
  planned_adapters result;
  if (!common.empty())
    result.push_back({*common_plan(problem), common});
  if (const auto* plan = own_plan(problem); plan != nullptr && !own.empty())
    result.push_back({*plan, own});
  return result;
}

std::string counter_of_rank(std::size_t matrix) {
  return std::string{rank_counter} + '.' + std::to_string(matrix);
}

rank_list ranks_kept(const client_state* state, const adapter_plan& plan) {
  const auto counter = [&](const std::string& name) {
    const auto found = state->counters.find(name);
    return found == state->counters.end()
             ? std::nullopt
             : std::optional{static_cast<std::size_t>(found->second)};
  };
  const auto all = state ? counter(rank_counter) : std::nullopt;
  if (!all)
    return {};
  rank_list ranks(plan.matrices.size(), *all);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    ranks[i] = counter(counter_of_rank(i)).value_or(*all);
  return ranks;
}

result<client_adapters> adapters_after(const local_problem& on,
                                       const client_state* state, floats common,
                                       floats attention) {
  if (auto ok = check_has_base(on); !ok)
    return tl::unexpected{ok.error()};
  client_adapters x{.common = {common.begin(), common.end()},
                    .attention = {attention.begin(), attention.end()}};
  if (state == nullptr)
    return x;
  if (const auto ranks = ranks_kept(state, *common_plan(on)); !ranks.empty())
    truncate(*common_plan(on), ranks, x.common);
  if (const auto own = state->blocks.find(std::string{own_adapter_family});
      own != state->blocks.end()) {
    const auto values = own->second.own_view();
    x.own.assign(values.begin(), values.end());
  }
  return x;
}

result<client_adapters> adapters_before(const local_problem& on,
                                        const client_state& state) {
  const auto left = state.blocks.find(std::string{left_adapter_family});
  if (left == state.blocks.end())
    return client_adapters{};
  return adapters_after(on, &state, left->second.own_view(),
                        attention_left(state));
}

} // namespace troupe::models
