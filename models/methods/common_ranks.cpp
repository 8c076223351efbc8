// HOMLoRA, where all clients train one adapter of one rank, and HETLoRA, where
// each has the first ranks of it and gives up those that it does not need.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/limits.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/common_adapter.hpp"
#include "models/methods/local_loop.hpp"
#include "policies/weighting.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

/// What is added to the loss: `factor` times the size of what lies beyond
/// `rank`.
struct tail_penalty {
  double factor = 0;
  std::size_t rank = 0;
};

/// Trains the adapter, of which ranks beyond `rank_max` stay zero. Returns the
/// mean loss before the steps, without penalty.
result<double>
descend(local_problem& on, common_optimiser& by, std::vector<float>& adapter,
        const visit_plan& plan, std::uint64_t seed, const tail_penalty& penalty,
        std::size_t rank_max = std::numeric_limits<std::size_t>::max()) {
  batch_sequence batches{on.rows, on.how, seed};
  double total = 0;
  for (std::uint64_t i = 0; i < plan.steps; ++i) {
    const planned_adapter x{*on.adapters, adapter};
    const auto loss = compose(on, {x}).and_then([&] {
      return differentiate(on, batches.next(),
                           derive_seed(seed, "operators", i));
    });
    if (!loss)
      return loss;
    total += *loss;
    auto slopes = pull_back(on, x);
    if (!slopes)
      return tl::unexpected{slopes.error()};
    if (penalty.factor > 0)
      tail_norm(x, penalty.rank, penalty.factor, *slopes);
    if (auto ok = by.step(adapter, *slopes); !ok)
      return tl::unexpected{ok.error()};
    // Moments of ranks that were given up could move them.
    truncate(*on.adapters, rank_max, adapter);
  }
  return total / static_cast<double>(plan.steps);
}

/// A client's first rank: as published, between `rank_min` and the full one in
/// the order of the clients; or from `rank_first` to `rank_last`.
std::size_t first_rank(const local_problem& on, client_id client) {
  const auto full = option_or(on.how, "budget", 1);
  const auto least = option_or(on.how, "rank_min", 1);
  const auto first = option_or(on.how, "rank_first", 0);
  const auto last = option_or(on.how, "rank_last", 0);
  const auto place = static_cast<double>(client.value - 1);
  const auto count =
    on.clients ? static_cast<double>(on.clients->train.size()) : 1;
  const auto rank =
    first > 0 && last > 0
      ? first + (last - first) * place / std::max(count - 1, 1.0)
      : least + (full - least) * place / std::max(count, 1.0);
  return static_cast<std::size_t>(std::clamp(rank, 1.0, std::max(full, 1.0)));
}

std::size_t rank_of(client_id client, const client_state* state,
                    const local_problem& on) {
  if (state != nullptr)
    if (const auto found = state->counters.find(rank_counter);
        found != state->counters.end())
      return found->second;
  return first_rank(on, client);
}

/// The norm of what an adapter adds to the model, which its offer weighs by.
result<double> weight_of(const local_problem& on, floats adapter) {
  const std::vector<float> zeros(on.adapters->model_size);
  std::vector<float> change(zeros.size());
  constexpr double one[] = {1};
  const floats values[] = {adapter};
  return adapter_mixture{*on.adapters, on.arithmetic}
    .compose(zeros, values, one, change)
    .and_then([&] { return on.arithmetic.norm(change); })
    .map([](double norm) {
      return std::clamp(norm, limits::share_min, policies::rank_norm_max);
    });
}

/// The visit, as if it had fetched all ranks of the adapter: zeros where it did
/// not. They are cut off again before anything is learned.
visit_input with_all_ranks(visit_input x, const local_problem& on) {
  const auto* block = on.blocks.find(adapter_family);
  for (auto& y : x.fetched)
    if (block != nullptr && y.block == block->id
        && y.values->size() < block->size)
      if (const auto rank = prefix_rank(*block, y.values->size())) {
        std::vector<float> whole(block->size);
        put_prefix(*block, *rank, *y.values, whole);
        y.values = share(std::move(whole));
      }
  return x;
}

/// Of what is offered to the block only the first ranks: the others count as
/// zeros.
void offer_ranks(const block_layout& block, std::size_t rank, trained& to) {
  for (auto& x : to.parts)
    if (x.block == block.id && rank < block.rank) {
      x.rank = static_cast<std::uint32_t>(rank);
      x.delta = share(take_prefix(block, x.rank, *x.delta));
    }
}

} // namespace

result<trained> common_sgd(const visit_input& x, local_problem& on) {
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
  const auto loss = descend(on, by, adapter, plan, x.seed, {});
  std::ranges::fill(on.model.gradient(), 0.f);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  by.keep(out.next);
  if (auto ok = end_common(*base, adapter, on, out); !ok)
    return tl::unexpected{ok.error()};
  return out;
}

// What a client lacks counts as zeros in the mean, so the others' ranks shrink
// by its weight.
result<trained> pruned_sgd(const visit_input& fetched, local_problem& on) {
  auto out = begin_result(fetched);
  const auto plan = plan_visit(on.how, on.rows.size(), fetched);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto x = with_all_ranks(fetched, on);
  const auto base = begin_common(x, on);
  if (!base)
    return tl::unexpected{base.error()};
  auto rank = rank_of(x.visit.client, x.state.get(), on);
  const auto kept = static_cast<std::size_t>(option_or(on.how, "keep_share", 1)
                                             * static_cast<double>(rank));
  const tail_penalty penalty{.factor = option_or(on.how, "penalty", 0),
                             .rank = kept};
  std::vector<float> adapter(base->values.begin(), base->values.end());
  truncate(*on.adapters, rank, adapter);
  const auto before = tail_norm({*on.adapters, adapter}, kept);
  common_optimiser by{on, x.state.get(), adapter.size()};
  const auto loss = descend(on, by, adapter, plan, x.seed, penalty, rank);
  std::ranges::fill(on.model.gradient(), 0.f);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  const auto least = std::max<std::size_t>(
    1, static_cast<std::size_t>(option_or(on.how, "rank_min", 1)));
  if (tail_norm({*on.adapters, adapter}, kept) < before)
    rank = std::min(rank, std::max(kept, least));
  truncate(*on.adapters, rank, adapter);
  out.next.counters[rank_counter] = rank;
  by.keep(out.next);
  // It has a norm only where it is finite.
  if (auto ok = keep(left_adapter_family, adapter, out.next); !ok)
    return tl::unexpected{ok.error()};
  const auto weight = weight_of(on, adapter);
  if (!weight)
    return tl::unexpected{weight.error()};
  if (auto ok = end_common(*base, adapter, on, out, *weight); !ok)
    return tl::unexpected{ok.error()};
  offer_ranks(*base->layout, rank, out);
  return out;
}

result<void> pruned_home(const home& x, local_problem& on) {
  auto common = common_of(x.versions, on);
  if (x.client.value != 0)
    truncate(*on.adapters, rank_of(x.client, x.state, on), common);
  return compose(on, {{*on.adapters, common}});
}

} // namespace troupe::models
