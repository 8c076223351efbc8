#pragma once

// A visit to one adapter that all clients have in common, over a model that
// nobody trains: PF2LoRA, and the baselines that it is compared with. Adapters
// are composed into whole weights; or they stand inside the layers, as groups
// "adapter" and "own_adapter", where a model takes any. Procedures do not know
// which.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/adapters/adapter_factors.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

/// The counter of a client that has a rank of its own: the largest, where each
/// layer has one, which the counters "rank.0" and so on say.
inline constexpr const char* rank_counter = "rank";

std::string counter_of_rank(std::size_t matrix);

/// Of each matrix of the common adapter; empty where it has none of its own.
rank_list ranks_kept(const client_state* state, const adapter_plan& plan);

/// How many steps of the common adapter a client has made in its life, or since
/// its moments began anew, and how often it found that its own was lost.
inline constexpr const char* steps_counter = "adapter.steps";
inline constexpr const char* lost_counter = "own_adapter.lost";

using planned_adapters = std::vector<planned_adapter>;
using factors = std::vector<float>;

/// What the common adapter is of, what beside attention is a block of its own,
/// and a client's own adapter; null: there is none.
const adapter_plan* common_plan(const local_problem& on) noexcept;
const adapter_plan* attention_plan(const local_problem& on) noexcept;
const adapter_plan* own_plan(const local_problem& on) noexcept;

/// Returns `invalid_config` where there is no plan of what clients keep.
result<void> check_own_plan(const adapter_plan* own);

/// Who has trained had one of its own; that it is gone is counted.
void count_lost(visit& v);

/// Makes the buffers live, and attaches what stands inside. Returns
/// `invalid_config` if the recipe has no adapter, or its model is not frozen.
result<void> begin_common(const visit& v);

/// The same, and finds the adapter.
result<base_block> take_common(const visit& v);

/// Offers the adapter, and remembers it as the client left it.
result<void> offer_common(const base_block& base, std::span<const float> now,
                          visit& v, std::optional<double> weight = {});

/// The configured optimiser of a common adapter. Its moments stay with the
/// client, and its next visit goes on with them, unless the option `moments`
/// says that each begins with none.
optimiser optimiser_of_common(const visit& v);

/// What is learned beside the common adapter, by an optimiser like that one's.
/// They go by elements, so two make the steps that one of both would.
struct learned_beside {
  const adapter_plan* plan;
  std::string kept_as;
  factors values;
  optimiser by;
};

/// Factors beside attention, where they are a block of their own; and a head of
/// the client's own, of one who has no adapter of its own: what it adds to that
/// of the model, where there is one and not all have it in common.
result<std::vector<learned_beside>> beside_common(visit& v);

/// As `offer_common`, of what was kept of factors beside attention, if there
/// are any.
result<void> offer_attention(visit& v);

/// What the client keeps of the common adapter's.
void keep_of_common(const optimiser& by, visit& v);

/// The rate of plain SGD's steps in a visit that has made so many: the option
/// `inner_rate`, by the schedule of the common adapter's.
double inner_rate_at(const visit& v, std::uint64_t made);

/// Makes the frozen model live with these adapters on it, and no others.
result<void> compose(const local_problem& on, const planned_adapters& adapters);

/// The gradient of the mean loss of the frozen model with these on it, and no
/// other. Gives that loss. Who wants the slopes of one adapter `alone` says
/// which: no others need be computed.
task<double> differentiate(visit& v, planned_adapters adapters, batch on,
                           std::optional<std::size_t> alone = {});

/// That of all of them, and what `bend` can go on from if the model keeps it.
task<kept_loss> differentiate_and_keep(visit& v, planned_adapters adapters,
                                       batch on);

/// What the live model's gradient means for one adapter.
result<factors> pull_back(const local_problem& on, const planned_adapter& x);

/// F_xx-like products in factor space: the slope along `of` of what `wrt` does
/// along `direction`, at these adapters; composed or inside.
/// @param slope the composed model's gradient at these, on these rows, where
/// that is known: it is needed where `wrt` is `of`. Inside it has no use.
/// @param kept the gradient at these, on these rows; null: nobody has it.
/// Composed it has no use. @pre both were on then, and are
/// @pre what it looks into stays until it ends
task<factors> bend(visit& v, planned_adapters at, std::size_t wrt,
                   std::size_t of, std::span<const float> direction, batch on,
                   const_array slope = {}, kept_gradient* kept = nullptr);

/// The common adapter's version. @pre there is one
const value_view& common_of(const std::vector<fetched_block>& versions,
                            const local_problem& on);

/// What a version has beside attention; empty: no block of its own.
std::span<const float> attention_of(const std::vector<fetched_block>& versions,
                                    const local_problem& on);

/// What is on a client's model: the common adapter at the client's rank, what
/// is apart from it beside attention, and one of its own. What there is not is
/// empty.
struct client_adapters {
  factors common = {};
  factors attention = {};
  factors own = {};

  planned_adapters on(const local_problem& problem) const;

  /// Those of the common adapter's layers.
  planned_adapters over_common(const local_problem& problem) const;
};

/// After a broadcast of `common`, and of what is beside attention. A null state
/// is nobody's.
result<client_adapters> adapters_after(const local_problem& on,
                                       const client_state* state,
                                       std::span<const float> common,
                                       std::span<const float> attention = {});

/// What one step on a client's training examples makes of a common adapter:
/// Per-FedAvg's way to a model of its own. Nobody's makes none.
task<factors> stepped_at_home(visit& v, factors from);

/// Makes that live.
task<done> common_home(visit& v);

/// How clients do before the common adapter is merged, and after.
void summarise_adapters(const evaluation_input& x, const local_problem& on,
                        evaluated& to);

/// The same of what they make of it in one step.
void summarise_meta_adapters(const evaluation_input& x, const local_problem& on,
                             evaluated& to);

/// Before it, as the client left them. Nothing, if it has not trained yet.
result<client_adapters> adapters_before(const local_problem& on,
                                        const client_state& state);

} // namespace troupe::models
