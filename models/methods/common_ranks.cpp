// HOMLoRA, where all clients train one adapter of one rank; HETLoRA, where each
// has the first ranks of it and gives up those that it does not need, and may
// have what is beside attention apart from that; and FlexLoRA, where each has
// as many of the first as it is given.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "core/limits.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "models/first_rank.hpp"
#include "models/inner_setup.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/common_adapter.hpp"
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

constexpr auto all_ranks = std::numeric_limits<std::size_t>::max();

/// Elementwise, so that two of them make the steps that one of both would.
struct optimisers {
  optimiser common;
  std::optional<optimiser> attention = {}; ///< Where that is apart.
};

/// Trains the adapters, of which the common one's ranks beyond `rank_max` stay
/// zero, and offers nothing yet. The loss is that without penalty.
task<done> learn(visit& v, client_adapters& now, optimisers& by,
                 tail_penalty penalty = {}, std::size_t rank_max = all_ranks) {
  const auto& plan = *common_plan(v.on);
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const planned_adapter x{plan, now.common};
    total += co_await differentiate(v, now.on(v.on), from.next_batch());
    auto slopes = co_await pull_back(v.on, x);
    factors of_attention;
    if (by.attention)
      of_attention =
        co_await pull_back(v.on, {*attention_plan(v.on), now.attention});
    if (penalty.factor > 0)
      tail_norm(x, penalty.rank, penalty.factor, slopes);
    co_await v.update(by.common.next(now.common, slopes));
    if (by.attention)
      co_await v.update(by.attention->next(now.attention, of_attention));
    // Moments of ranks that were given up could move them.
    truncate(plan, rank_max, now.common);
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  co_return {};
}

std::size_t rank_of(client_id client, const client_state* state,
                    const local_problem& on) {
  if (state != nullptr)
    if (const auto found = state->counters.find(rank_counter);
        found != state->counters.end())
      return found->second;
  return first_rank(on.how.method,
                    {.before = static_cast<std::size_t>(client.value - 1),
                     .clients = on.clients ? on.clients->train.size() : 1,
                     .experts = experts_said(on, client)});
}

/// The norm of what an adapter adds to the model, which its offer weighs by.
result<double> weight_of(visit& v, floats adapter) {
  const auto& plan = *common_plan(v.on);
  const auto within = [](double norm) {
    return std::clamp(norm, limits::share_min, policies::rank_norm_max);
  };
  if (v.on.model.inside() != nullptr)
    return within(norm_of_products(plan, adapter));
  const auto change = v.room(plan.model_size);
  constexpr double one[] = {1};
  const floats values[] = {adapter};
  return adapter_mixture{plan, v.on.arithmetic}
    .compose(change, values, one, change)
    .and_then([&] { return v.on.arithmetic.norm(change); })
    .map(within);
}

/// All ranks of what was fetched: zeros where they were not. They are cut off
/// again before anything is learned.
result<factors> with_all_ranks(const visit& v) {
  const auto* block = v.on.blocks.find(adapter_family);
  const auto* fetched = block ? v.in.find(block->id) : nullptr;
  const auto rank = fetched && fetched->values->size() < block->size
                      ? prefix_rank(*block, fetched->values->size())
                      : std::nullopt;
  if (!rank)
    return v.base(adapter_family, common_plan(v.on)->size())
      .map([](const base_block& x) { return brought_here(x.values); });
  factors whole(block->size);
  put_prefix(*block, *rank, *fetched->values, whole);
  return whole;
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

task<done> train_ranks(visit& v) {
  const auto base = co_await take_common(v);
  client_adapters now{.common = brought_here(base.values)};
  optimisers by{.common = optimiser_of_common(v)};
  co_await learn(v, now, by);
  by.common.keep(v.out.next);
  co_await offer_common(base, now.common, v);
  co_return {};
}

// What a client lacks counts as zeros in the mean, so the others' ranks shrink
// by its weight.
task<done> train_pruned(visit& v) {
  co_await begin_common(v);
  const auto fetched = co_await with_all_ranks(v);
  const base_block base{v.on.blocks.find(adapter_family), fetched};
  const auto beside = co_await take_attention(v);
  const auto& plan = *common_plan(v.on);
  auto rank = rank_of(v.in.visit.client, v.in.state.get(), v.on);
  const auto kept = static_cast<std::size_t>(v.option("keep_share")
                                             * static_cast<double>(rank));
  client_adapters now{.common = fetched};
  auto& adapter = now.common;
  truncate(plan, rank, adapter);
  const auto before = tail_norm({plan, adapter}, kept);
  const tail_penalty penalty{.factor = v.option("penalty"), .rank = kept};
  optimisers by{.common = optimiser_of_common(v)};
  if (beside.layout != nullptr) {
    now.attention = brought_here(beside.values);
    by.attention.emplace(v.on, now.attention.size(), v.in.state.get(),
                         std::string{attention_family});
  }
  co_await learn(v, now, by, penalty, rank);
  by.common.keep(v.out.next);
  if (by.attention)
    by.attention->keep(v.out.next);
  const auto least =
    std::max<std::size_t>(1, static_cast<std::size_t>(v.option("rank_min")));
  if (tail_norm({plan, adapter}, kept) < before)
    rank = std::min(rank, std::max(kept, least));
  truncate(plan, rank, adapter);
  v.out.next.counters[rank_counter] = rank;
  // It has a norm only where it is finite.
  co_await v.keep(left_adapter_family, adapter);
  const auto weight = co_await weight_of(v, adapter);
  co_await offer_common(base, adapter, v, weight);
  co_await offer_attention(beside, now.attention, v);
  offer_ranks(*base.layout, rank, v.out);
  co_return {};
}

// A version's ranks are those of no version before it, so moments mean nothing
// after a visit.
task<done> train_ranked(visit& v) {
  co_await begin_common(v);
  const auto fetched = co_await with_all_ranks(v);
  const base_block base{v.on.blocks.find(adapter_family), fetched};
  const auto& plan = *common_plan(v.on);
  const auto rank = rank_of(v.in.visit.client, v.in.state.get(), v.on);
  client_adapters now{.common = fetched};
  truncate(plan, rank, now.common);
  optimisers by{.common = {v.on, plan.size()}};
  co_await learn(v, now, by, {}, rank);
  v.out.next.counters[rank_counter] = rank;
  co_await offer_common(base, now.common, v);
  offer_ranks(*base.layout, rank, v.out);
  co_return {};
}

task<done> pruned_home(visit& v) {
  const auto beside = attention_of(v.in.fetched, v.on);
  client_adapters now{.common = common_of(v.in.fetched, v.on).copy(),
                      .attention = {beside.begin(), beside.end()}};
  const auto client = v.in.visit.client;
  if (client.value != 0)
    truncate(*common_plan(v.on), rank_of(client, v.in.state.get(), v.on),
             now.common);
  co_await compose(v.on, now.on(v.on));
  co_return {};
}

} // namespace

const local_method common_sgd{
  .train = train_ranks, .home = common_home, .summary = summarise_adapters};
const local_method pruned_sgd{
  .train = train_pruned, .home = pruned_home, .summary = summarise_adapters};
const local_method ranked_sgd{
  .train = train_ranked, .home = pruned_home, .summary = summarise_adapters};

} // namespace troupe::models
