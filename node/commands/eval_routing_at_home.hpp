#pragma once

// Where tokens go in the models of clients that joined a run from here: looked
// at with what their store keeps, and without a server. Nothing of it leaves.

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/json.hpp"
#include "models/token_routes.hpp"
#include "node/commands/command.hpp"
#include "node/join/joined_task.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

struct routing_at_home {
  place_in_store at;
  std::string first; ///< What expert 0 is.
  std::string note = {}; ///< That no router has learned; empty: some may have.
  std::size_t layers = 0;
  std::map<client_id, models::token_routes> clients; ///< As they are now.
  std::vector<client_id> untrained; ///< They have no router of their own yet.
  bool has_other_texts = false;     ///< Than when they joined.
};

/// Of a store's clients, or of those of one run in it. Who trained is looked at
/// as it left its model. Returns `storage_failure` where a process works with
/// them, `invalid_config` where none has a router, and what `read_joined` and
/// `work_at_home` do. @pre is_of_store(folder)
[[nodiscard]] result<routing_at_home>
routing_at_home_of(const std::filesystem::path& folder,
                   const model_maker& make_model);

/// Looks of before, as routing.json has them, of fewer steps than this one, and
/// this one: clients that came from a copy may have taken others since. Those
/// of another number of layers are not among them.
/// @param before that text; empty: there is none
json::list looks_with(std::string_view before, const json& now);

/// Whether that text has a list of looks at all.
bool has_looks(std::string_view before);

/// For people: the expert that each token goes to first, as a digit or a
/// letter, in a line for each layer; of long windows the beginning.
std::string map_of(const models::token_routes& x);

/// `troupe eval STORE --routing`
exit_code eval_routing_at_home(const std::string& folder,
                               const model_maker& make_model, bool in_json,
                               streams io);

} // namespace troupe::node
