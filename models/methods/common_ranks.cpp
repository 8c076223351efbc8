// HOMLoRA, where all clients train one adapter of one rank; HETLoRA, where each
// has the first ranks of it and gives up those that it does not need, and may
// have what is beside attention apart from that; and FlexLoRA, where each has
// as many of the first as it is given.

#include <algorithm>
#include <cmath>
#include <numeric>
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

/// Of each matrix; empty: of none.
struct rank_bounds {
  rank_list most = {}; ///< Ranks beyond these stay zero.
  /// To the loss is added `penalty` times the size of what lies beyond these.
  rank_list kept = {};
  double penalty = 0;
};

/// Trains the adapter, and what is learned beside it, which it keeps. Offers
/// nothing yet. The loss is that without penalty.
task<done> learn(visit& v, factors& adapter, optimiser& by,
                 const rank_bounds& within) {
  const auto& plan = *common_plan(v.on);
  auto beside = co_await beside_common(v);
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    planned_adapters all(1, {plan, adapter});
    for (const auto& x : beside)
      all.push_back({*x.plan, x.values});
    total += co_await differentiate(v, all, from.next_batch());
    auto slopes = co_await pull_back(v.on, all.front());
    for (auto& x : beside) {
      auto along = co_await pull_back(v.on, {*x.plan, x.values});
      co_await v.update(x.by.next(x.values, along));
    }
    if (within.penalty > 0)
      tail_norms(all.front(), within.kept, within.penalty, slopes);
    co_await v.update(by.next(adapter, slopes));
    // Moments of ranks that were given up could move them.
    if (!within.most.empty())
      truncate(plan, within.most, adapter);
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  for (const auto& x : beside) {
    x.by.keep(v.out.next);
    co_await v.keep(x.kept_as, x.values);
  }
  co_return {};
}

bool gives_up_by_layer(const training_options& how) {
  return option_of(how, "pruning") != 0;
}

/// What a client has of each matrix.
rank_list ranks_of(client_id client, const client_state* state,
                   const local_problem& on) {
  const auto& plan = *common_plan(on);
  if (auto kept = ranks_kept(state, plan); !kept.empty())
    return kept;
  const auto first = first_rank(
    on.how.method, {.before = static_cast<std::size_t>(client.value - 1),
                    .clients = on.clients ? on.clients->train.size() : 1,
                    .experts = experts_said(on, client)});
  rank_list ranks(plan.matrices.size(), first);
  // Who has fewer by itself could give up none of what it lacks.
  for (std::size_t i = 0; i < ranks.size() && gives_up_by_layer(on.how); ++i)
    ranks[i] = std::min(ranks[i], plan.matrices[i].rank);
  return ranks;
}

/// The largest, which travels.
std::size_t rank_of(const rank_list& ranks) {
  return ranks.empty() ? 1 : *std::ranges::max_element(ranks);
}

/// Gives up the tails beyond `kept` that a visit has made smaller: of all
/// matrices together, or each by itself.
void give_up(const visit& v, const std::vector<double>& before,
             const std::vector<double>& now, const rank_list& kept,
             rank_list& ranks) {
  const auto sum = [](const std::vector<double>& xs) {
    return std::accumulate(xs.begin(), xs.end(), 0.0);
  };
  const bool each = gives_up_by_layer(v.on.how);
  const bool all = sum(now) < sum(before);
  const auto least =
    std::max<std::size_t>(1, static_cast<std::size_t>(v.option("rank_min")));
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (each ? now[i] < before[i] : all)
      ranks[i] = std::min(ranks[i], std::max(kept[i], least));
}

void keep_ranks(visit& v, const rank_list& ranks) {
  auto& counters = v.out.next.counters;
  counters[rank_counter] = rank_of(ranks);
  if (gives_up_by_layer(v.on.how))
    for (std::size_t i = 0; i < ranks.size(); ++i)
      counters[counter_of_rank(i)] = ranks[i];
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
  auto adapter = brought_here(base.values);
  auto by = optimiser_of_common(v);
  const rank_bounds none{};
  co_await learn(v, adapter, by, none);
  keep_of_common(by, v);
  co_await offer_common(base, adapter, v);
  co_return {};
}

// What a client lacks counts as zeros in the mean, so the others' ranks shrink
// by its weight.
task<done> train_pruned(visit& v) {
  co_await begin_common(v);
  const auto fetched = co_await with_all_ranks(v);
  const base_block base{v.on.blocks.find(adapter_family), fetched};
  const auto& plan = *common_plan(v.on);
  auto ranks = ranks_of(v.in.visit.client, v.in.state.get(), v.on);
  rank_bounds within{
    .most = ranks, .kept = ranks, .penalty = v.option("penalty")};
  for (auto& x : within.kept)
    x =
      static_cast<std::size_t>(v.option("keep_share") * static_cast<double>(x));
  auto adapter = fetched;
  truncate(plan, ranks, adapter);
  const auto before = tail_norms({plan, adapter}, within.kept);
  auto by = optimiser_of_common(v);
  co_await learn(v, adapter, by, within);
  keep_of_common(by, v);
  give_up(v, before, tail_norms({plan, adapter}, within.kept), within.kept,
          ranks);
  truncate(plan, ranks, adapter);
  keep_ranks(v, ranks);
  // It has a norm only where it is finite.
  co_await v.keep(left_adapter_family, adapter);
  const auto weight = co_await weight_of(v, adapter);
  co_await offer_common(base, adapter, v, weight);
  co_await offer_attention(v);
  offer_ranks(*base.layout, rank_of(ranks), v.out);
  co_return {};
}

// A version's ranks are those of no version before it, so moments mean nothing
// after a visit.
task<done> train_ranked(visit& v) {
  co_await begin_common(v);
  const auto fetched = co_await with_all_ranks(v);
  const base_block base{v.on.blocks.find(adapter_family), fetched};
  const auto& plan = *common_plan(v.on);
  const auto ranks = ranks_of(v.in.visit.client, v.in.state.get(), v.on);
  auto adapter = fetched;
  truncate(plan, ranks, adapter);
  optimiser by{v.on, plan.size()};
  const rank_bounds within{.most = ranks};
  co_await learn(v, adapter, by, within);
  keep_ranks(v, ranks);
  co_await offer_common(base, adapter, v);
  offer_ranks(*base.layout, rank_of(ranks), v.out);
  co_return {};
}

task<done> pruned_home(visit& v) {
  auto now = co_await adapters_after(v.on, v.in.state.get(),
                                     common_of(v.in.fetched, v.on),
                                     attention_of(v.in.fetched, v.on));
  const auto client = v.in.visit.client;
  if (client.value != 0)
    truncate(*common_plan(v.on), ranks_of(client, v.in.state.get(), v.on),
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
