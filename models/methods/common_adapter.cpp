#include "models/methods/common_adapter.hpp"

#include <algorithm>
#include <string>

#include "core/assert.hpp"
#include "models/methods/built_in.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

const std::string first_moment = "adapter.first";
const std::string second_moment = "adapter.second";

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

/// What the client kept of a moment, or zeros.
aligned_floats moment_of(const client_state* state, const std::string& name,
                         std::size_t size) {
  if (state != nullptr)
    if (const auto found = state->moments.find(name);
        found != state->moments.end()
        && found->second.own_view().size() == size) {
      const auto kept = found->second.own_view();
      return {kept.begin(), kept.end()};
    }
  return aligned_floats(size);
}

} // namespace

result<base_block> begin_common(const visit_input& x, local_problem& on) {
  if (auto ok = check(on); !ok)
    return tl::unexpected{ok.error()};
  if (auto ok = load_buffers(x, on, buffers_family); !ok)
    return tl::unexpected{ok.error()};
  return base_of(x, on, adapter_family, on.adapters->size());
}

result<void> end_common(const base_block& base, floats now,
                        const local_problem& on, trained& to,
                        std::optional<double> weight) {
  if (auto ok = offer_difference(base, now, on, to, weight); !ok)
    return ok;
  return keep(left_adapter_family, now, to.next);
}

result<void> compose(local_problem& on, const planned_adapters& adapters) {
  constexpr double one[] = {1};
  load_parameters(on.model, *on.frozen->at(std::string{model_family}));
  const auto live = on.model.parameters();
  for (const auto& x : adapters) {
    const std::vector<float> before(live.begin(), live.end());
    const floats values[] = {x.values};
    if (auto ok = adapter_mixture{x.plan, on.arithmetic}.compose(before, values,
                                                                 one, live);
        !ok)
      return ok;
  }
  return {};
}

result<double> differentiate(local_problem& on,
                             std::span<const std::uint32_t> rows,
                             std::uint64_t seed) {
  std::ranges::fill(on.model.gradient(), 0.f);
  return on.model.backward(rows, seed);
}

result<std::vector<float>> pull_back(local_problem& on,
                                     const planned_adapter& x) {
  constexpr double one[] = {1};
  const floats values[] = {x.values};
  adapter_mixture::slopes found;
  if (auto ok = adapter_mixture{x.plan, on.arithmetic}.pull_back(
        on.model.gradient(), values, one, found);
      !ok)
    return tl::unexpected{ok.error()};
  return std::move(found.adapters.front());
}

result<void> curve_along(local_problem& on, const planned_adapter& x,
                         floats direction, std::span<const std::uint32_t> rows,
                         std::uint64_t seed) {
  std::vector<float> change(on.model.parameters().size());
  return push_forward(x, direction, on.arithmetic, change).and_then([&] {
    std::ranges::fill(on.model.gradient(), 0.f);
    return on.model.curve(rows, seed, change);
  });
}

const std::vector<float>& common_of(const std::vector<fetched_block>& versions,
                                    const local_problem& on) {
  const auto* block = on.blocks.find(adapter_family);
  TROUPE_ASSERT(block != nullptr);
  const auto found =
    std::ranges::find(versions, block->id, &fetched_block::block);
  TROUPE_ASSERT(found != versions.end());
  return *found->values;
}

common_optimiser::common_optimiser(local_problem& on, const client_state* state,
                                   std::size_t size)
  : on_(on) {
  const bool adamw = on.how.optimiser == optimiser_kind::adamw;
  if (adamw || on.how.momentum != 0)
    first_ = moment_of(state, first_moment, size);
  if (adamw)
    second_ = moment_of(state, second_moment, size);
  if (state != nullptr)
    if (const auto found = state->counters.find(steps_counter);
        found != state->counters.end())
      count_ = found->second;
}

result<void> common_optimiser::step(std::span<float> adapter,
                                    std::span<float> slopes) {
  ++count_;
  const kernels::step_buffers buffers{.weights = adapter,
                                      .gradient = slopes,
                                      .first_moment = first_,
                                      .second_moment = second_};
  const auto& how = on_.how;
  if (how.optimiser == optimiser_kind::adamw)
    return on_.arithmetic.step(
      kernels::adamw_step{.rate = static_cast<float>(on_.rate),
                          .decay = static_cast<float>(how.weight_decay),
                          .count = count_},
      buffers);
  return on_.arithmetic.step(
    kernels::sgd_step{.rate = static_cast<float>(on_.rate),
                      .momentum = static_cast<float>(how.momentum),
                      .decay = static_cast<float>(how.weight_decay),
                      .first = count_ == 1},
    buffers);
}

void common_optimiser::keep(client_state& next) const {
  const auto put = [&](const std::string& name, const aligned_floats& x) {
    if (!x.empty())
      next.moments[name] = personal_values{{x.begin(), x.end()}};
  };
  put(first_moment, first_);
  put(second_moment, second_);
  next.counters[steps_counter] = count_;
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
