#pragma once

// What of a recipe stands inside the layers of a model: which factors it has,
// and which of them a client's model holds.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/key_places.hpp"
#include "core/recipe.hpp"
#include "core/result.hpp"
#include "models/adapters/adapters.hpp"
#include "models/inner_adapters.hpp"
#include "models/objective.hpp"
#include "models/procedure.hpp"

namespace troupe::models {

/// What groups a recipe has of a model: plans over the tensors of its base, or
/// over its parameters where it has none. One that it lacks is not there.
struct inner_plans {
  std::optional<adapter_plan> feed_forward, attention, adapter, own_adapter;
  routing_options routing;
  std::uint32_t generalists = 0; ///< The first of a block's experts.
};

/// Of a client where nothing is said.
inline constexpr std::uint32_t experts_otherwise = 2;

/// How many blocks a recipe has of a family.
std::uint32_t count_of(const recipe& method, std::string_view family) noexcept;

/// Whether a recipe has several experts in each feed-forward block, which only
/// a language model's has.
bool is_routed(const recipe& method);

/// What is said of a recipe with experts where a layer over the model says what
/// a row is: none of its clients would learn that.
std::string no_head_of(const recipe& method);

/// Whether its routers learn from rows that were set aside of a client's own.
bool needs_validation(const recipe& method, const options& said);

/// The most experts that its clients may have; 0: they have no number of their
/// own.
std::uint32_t experts_max(const recipe& method) noexcept;

/// The base's tensors where the model has one that nobody trains, or its
/// parameters'.
const tensor_list& adaptable(const objective& model) noexcept;

/// None where the recipe has no factors, or the model no base for them. What is
/// not said is as the recipe says. Without names of layers experts adapt all of
/// attention and of feed-forward blocks, other adapters what makes queries and
/// values, and `adapter` has a layer that says what a row is as a whole.
/// Returns `invalid_config` where a name is none of the model's, a rank is
/// above a layer, or the recipe routes tokens and the model has no base, or one
/// that says what a row is. @param places of what was said, for refusals
[[nodiscard]] result<std::optional<inner_plans>>
inner_plans_for(const recipe& method, const objective& model,
                const options& said, const std::vector<std::string>& layers,
                const key_places& places = {});

/// The same over the tensors of a base that is there.
[[nodiscard]] result<inner_plans>
inner_plans_over(const tensor_list& base, const recipe& method,
                 const options& said, const std::vector<std::string>& layers,
                 const key_places& places = {});

/// Attaches what a client of so many experts has, generalists included, unless
/// it is attached already: then all groups are switched on, and count one. What
/// was looked at of the parameters before is no longer there.
[[nodiscard]] result<void> attach_for(const local_problem& on,
                                      std::uint32_t experts);

/// Whether the configuration may say how many experts each client has: for its
/// blocks, or for what an adapter is given in their place (the option
/// `rank_per_expert`).
bool counts_experts(const recipe& method) noexcept;

/// What it says of a client; 2 where it says nothing. @pre it is somebody
std::uint32_t experts_said(const local_problem& on, client_id client) noexcept;

/// Of a client's blocks, generalists included. Nobody's are those that all
/// share.
std::uint32_t experts_of(const local_problem& on, client_id client) noexcept;

/// The same of a recipe, and what is said of its clients by turns.
std::uint32_t experts_of(const recipe& method,
                         std::span<const std::uint32_t> said,
                         client_id client) noexcept;

/// How many steps of its experts a client has made. Null: it has no state yet.
std::uint64_t steps_of_experts(const client_state* state) noexcept;

/// With how many experts, generalists included, a client has trained that keeps
/// this; 0: with none yet.
std::uint32_t experts_kept(const client_state& x) noexcept;

/// What becomes of the experts' factors where one step needs so many buffers of
/// their size: the most experts that fit into `bytes` beside the factors of
/// attention; 0: not even one.
std::uint32_t experts_within(const inner_plans& plans, double bytes,
                             std::size_t buffers, std::uint32_t most) noexcept;

} // namespace troupe::models
