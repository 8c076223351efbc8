#pragma once

// A visit to one adapter that all clients have in common, over a model that
// nobody trains: PF2LoRA, and the baselines that it is compared with.

#include <vector>

#include "models/adapters/adapter_factors.hpp"
#include "models/aligned.hpp"
#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

/// The counter of a client that has a rank of its own.
inline constexpr const char* rank_counter = "rank";

/// How many steps of the common adapter a client has made in its life, and how
/// often it found that its own adapter was lost.
inline constexpr const char* steps_counter = "adapter.steps";
inline constexpr const char* lost_counter = "own_adapter.lost";

using planned_adapters = std::vector<planned_adapter>;

/// Makes the buffers live and finds the adapter. Returns `invalid_config` if
/// the recipe has none, or its model is not frozen.
result<base_block> begin_common(const visit_input& x, local_problem& on);

/// Offers the adapter, and remembers it as the client left it.
result<void> end_common(const base_block& base, std::span<const float> now,
                        const local_problem& on, trained& to,
                        std::optional<double> weight = {});

/// Makes the frozen model live with these adapters on it.
result<void> compose(local_problem& on, const planned_adapters& adapters);

/// The gradient of the mean loss of the live model. Returns that loss.
result<double> differentiate(local_problem& on,
                             std::span<const std::uint32_t> rows,
                             std::uint64_t seed);

/// What the live model's gradient means for one adapter.
result<std::vector<float>> pull_back(local_problem& on,
                                     const planned_adapter& x);

/// Makes the gradient the Hessian of the mean loss of the live model, times
/// what the model changes by where `x` moves along `direction`.
result<void> curve_along(local_problem& on, const planned_adapter& x,
                         std::span<const float> direction,
                         std::span<const std::uint32_t> rows,
                         std::uint64_t seed);

/// The common adapter's version. @pre there is one
const std::vector<float>& common_of(const std::vector<fetched_block>& versions,
                                    const local_problem& on);

/// The steps of the configured optimiser on a common adapter. Its moments stay
/// with the client, and its next visit goes on with them.
class common_optimiser {
public:
  common_optimiser(local_problem& on, const client_state* state,
                   std::size_t size);

  result<void> step(std::span<float> adapter, std::span<float> slopes);

  void keep(client_state& next) const;

private:
  local_problem& on_;
  aligned_floats first_;
  aligned_floats second_;
  std::uint64_t count_ = 0;
};

/// What is on a client's model: the common adapter at the client's rank, and
/// one of its own. What there is not is empty.
struct client_adapters {
  std::vector<float> common;
  std::vector<float> own;

  planned_adapters on(const local_problem& problem) const;
};

/// After a broadcast of `common`. A null state is nobody's.
result<client_adapters> adapters_after(const local_problem& on,
                                       const client_state* state,
                                       std::span<const float> common);

/// What one step on a client's training examples makes of a common adapter:
/// Per-FedAvg's way to a model of its own. Nobody's makes none.
result<std::vector<float>> stepped_at_home(std::vector<float> from,
                                           client_id client, local_problem& on);

/// Before it, as the client left them. Nothing, if it has not trained yet.
result<client_adapters> adapters_before(const local_problem& on,
                                        const client_state& state);

} // namespace troupe::models
