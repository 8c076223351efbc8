#pragma once

// What a process was told when it joined, and where it said that its files are:
// kept beside its clients, so that they can be looked at without a server.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "actors/messages/terms.hpp"
#include "core/ids.hpp"
#include "core/json.hpp"
#include "core/result.hpp"
#include "models/layout.hpp"
#include "node/config/experiment.hpp"
#include "node/join/join.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

inline constexpr std::string_view joined_file = "joined.json";

struct joined_task {
  join_context in; ///< With what says which task it is, and its store.
  messages::terms_given terms;
  std::vector<client_id> clients;
  models::digest texts{}; ///< Of a client's own; zeros: it has none.
};

/// With paths that mean the same wherever they are read.
json to_json(const joined_task& x);

/// Returns `invalid_data` where it is not what `to_json` makes.
[[nodiscard]] result<joined_task> joined_task_of(const json& x);

/// Into its store, where that is a folder.
[[nodiscard]] result<void> keep_joined(const joined_task& x);

/// Likewise, for who looks at these clients later. They do without it: that it
/// is not kept is said.
void keep_or_say(const joined_task& x);

/// Where the clients of one run are.
struct place_in_store {
  std::filesystem::path store;
  std::string run; ///< Its id, in digits.

  std::filesystem::path folder() const;
};

/// Whether this is a joining process's store, or what it has of one run.
bool is_of_store(const std::filesystem::path& folder);

/// Returns `invalid_data` where a store has no clients, or those of several
/// runs: then the text says how one is named. @pre is_of_store(folder)
[[nodiscard]] result<place_in_store>
place_of_clients(const std::filesystem::path& folder);

/// What the clients of this place learn. Returns `invalid_data` where it is
/// damaged, or an earlier build kept them.
[[nodiscard]] result<joined_task> read_joined(const place_in_store& at,
                                              const model_maker& make_model);

/// The run's configuration, as the process took it. Reads no data. Returns
/// `invalid_config` where a file of the model is gone.
[[nodiscard]] result<experiment> experiment_of(const joined_task& x);

struct joined_work {
  workload work;
  bool has_other_texts = false; ///< Than when it joined.
};

/// The work of its clients, made again. Returns `invalid_data` where the run
/// has none of their numbers, or their data is gone, or another, and
/// `invalid_config` where it does not fit.
[[nodiscard]] result<joined_work> work_at_home(const joined_task& x,
                                               const experiment& as);

} // namespace troupe::node
