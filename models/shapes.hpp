#pragma once

// What the blocks of a recipe are, given a model: their tensors and their first
// values.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/key_places.hpp"
#include "core/recipe.hpp"
#include "core/result.hpp"
#include "core/values.hpp"
#include "models/adapters/adapters.hpp"
#include "models/gate.hpp"
#include "models/layout.hpp"
#include "models/objective.hpp"

namespace troupe::models {

struct inner_plans;

/// Whether a recipe attaches adapters to its model.
bool has_adapters(const recipe& method);

/// Whether its model is one that nobody trains.
bool is_over_base(const recipe& method);

/// The adapters that a recipe has of a model; none if it has none. What is not
/// said is as the recipe says; an option that it lacks leaves out what it is
/// for. Only the layers that are named are adapted; all, if none is.
/// @param other_ranks of layers that have others than the option says
/// @param places of what was said, for refusals
/// @pre the recipe's options may have these values
result<std::optional<adapter_plan>>
adapters_for(const recipe& method, const tensor_list& model,
             const options& said, const std::vector<std::string>& layers = {},
             const std::map<std::string, std::size_t>& other_ranks = {},
             const key_places& places = {});

/// The keys that say an adapter's ranks, and where they were said.
struct rank_keys {
  std::string_view all = "options.rank";
  std::string_view attention = {}; ///< Empty: likewise.
  key_places places = {};
};

/// Refuses adapters of a linear layer whose rank is above the layer's width:
/// with the key, the narrowest layer and the most ranks that would do.
result<void> check_widths(const adapter_plan& plan, const rank_keys& keys = {});

/// Likewise, where all clients have all ranks.
result<void> check_ranks(const recipe& method, const adapter_plan& plan,
                         const rank_keys& keys = {});

/// Refuses whole models of one family that begin equal where clients learn or
/// choose which is theirs, and nobody is tied to one: nothing would ever tell
/// them apart.
result<void> check_starts(const recipe& method, const layout& blocks,
                          const std::map<block_id, shared_values>& initial);

/// Refuses a recipe that shares all but the last layer of a model that has no
/// other.
result<void> check_body(const recipe& method, const objective& model);

/// Tensors of the families that the built-in procedures know, for
/// `make_layout`. @param inside null: nothing stands inside the model's layers
std::map<std::string, tensor_list>
shapes_of(const objective& model,
          const std::optional<adapter_plan>& adapters = {},
          const std::optional<kernels::gate_shape>& gate = {},
          const inner_plans* inside = nullptr);

/// First values of the travelling blocks among them, by name: model and buffers
/// from the objective under `seed`, adapters, factors and a gate each from a
/// seed of its own, a control variate of zeros.
std::map<std::string, shared_values>
initial_values(objective& model, const layout& blocks, std::uint64_t seed,
               const std::optional<adapter_plan>& adapters = {},
               const std::optional<kernels::gate_shape>& gate = {},
               const inner_plans* inside = nullptr);

} // namespace troupe::models
