#include "models/methods/common_adapter.hpp"

#include <algorithm>
#include <string>

#include "core/assert.hpp"
#include "models/methods/built_in.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

result<void> check(const local_problem& on) {
  if (on.adapters == nullptr)
    return fail(errc::invalid_config,
                "the recipe trains an adapter and has no block of it");
  if (on.frozen == nullptr || !on.frozen->contains(std::string{model_family}))
    return fail(errc::invalid_config,
                "the recipe's adapter belongs on a frozen block 'model', of "
                "which this task has no values");
  return {};
}

} // namespace

result<void> begin_common(const visit& v) {
  return check(v.on).and_then([&] { return v.load_buffers(buffers_family); });
}

result<base_block> take_common(const visit& v) {
  return begin_common(v).and_then(
    [&] { return v.base(adapter_family, v.on.adapters->size()); });
}

result<void> offer_common(const base_block& base, floats now, visit& v,
                          std::optional<double> weight) {
  return v.offer(base, now, weight).and_then([&] {
    return v.keep(left_adapter_family, now);
  });
}

optimiser optimiser_of_common(const visit& v) {
  return {v.on, v.on.adapters->size(), v.in.state.get(),
          std::string{adapter_family}};
}

result<void> compose(const local_problem& on,
                     const planned_adapters& adapters) {
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

task<double> differentiate(visit& v, planned_adapters adapters, batch on) {
  co_await compose(v.on, adapters);
  v.forget_gradient();
  co_return co_await v.differentiate(on);
}

result<factors> pull_back(const local_problem& on, const planned_adapter& x) {
  constexpr double one[] = {1};
  const floats values[] = {x.values};
  adapter_mixture::slopes found;
  return adapter_mixture{x.plan, on.arithmetic}
    .pull_back(on.model.gradient(), values, one, found)
    .map([&] { return std::move(found.adapters.front()); });
}

task<done> curve_along(visit& v, planned_adapter x, floats direction, batch on,
                       array change) {
  co_await push_forward(x, direction, v.on.arithmetic, change);
  v.forget_gradient();
  co_await v.curve(on, change);
  co_return {};
}

const value_view& common_of(const std::vector<fetched_block>& versions,
                            const local_problem& on) {
  const auto* block = on.blocks.find(adapter_family);
  TROUPE_ASSERT(block != nullptr);
  const auto found =
    std::ranges::find(versions, block->id, &fetched_block::block);
  TROUPE_ASSERT(found != versions.end());
  return *found->values;
}

planned_adapters client_adapters::on(const local_problem& problem) const {
  planned_adapters result;
  if (!common.empty())
    result.push_back({*problem.adapters, common});
  if (!own.empty() && problem.own_adapters != nullptr)
    result.push_back({*problem.own_adapters, own});
  return result;
}

result<client_adapters> adapters_after(const local_problem& on,
                                       const client_state* state,
                                       floats common) {
  if (auto ok = check(on); !ok)
    return tl::unexpected{ok.error()};
  client_adapters x{.common = {common.begin(), common.end()}, .own = {}};
  if (state == nullptr)
    return x;
  if (const auto rank = state->counters.find(rank_counter);
      rank != state->counters.end())
    truncate(*on.adapters, rank->second, x.common);
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
  return adapters_after(on, &state, left->second.own_view());
}

} // namespace troupe::models
