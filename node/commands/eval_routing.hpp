#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "core/json.hpp"
#include "models/token_routes.hpp"
#include "node/commands/command.hpp"
#include "node/task/materials.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

/// Over clients, each of which counts the same: what the generalist is worth to
/// routers, after a version or at the end.
struct routing_look {
  std::optional<version> head; ///< Nothing: nobody serves these clients.
  std::size_t clients = 0;
  double steps = 0; ///< Of their experts.
  /// Per layer: its mean weight, and its part of first places.
  std::vector<double> scores, first_places;
};

struct routing_of_run {
  std::string first; ///< What expert 0 is.
  std::string note = {}; ///< That no router has learned; empty: some may have.
  std::size_t layers = 0;
  std::vector<routing_look> looks;
  std::map<client_id, models::token_routes> last;
};

/// @pre some client has a router
routing_look look_at(std::optional<version> head,
                     const std::map<client_id, models::token_routes>& clients);

/// What expert 0 of its clients' models is.
std::string first_expert_of(const models::local_task& task);

/// Says where no client has made as many steps as are before a burst of
/// routers, or bursts learn nothing; empty: some may have learned.
/// @param said the method's options
std::string
note_on_bursts(const recipe& method, const options& said,
               const std::map<client_id, models::token_routes>& clients);

// As routing.json has them.

json json_of(const routing_look& x);
json json_of(client_id client, const models::token_routes& x);

/// For people: what expert 0 is worth to each client's routers.
void print_worth(const std::string& first, std::size_t layers,
                 const std::map<client_id, models::token_routes>& clients,
                 std::ostream& out);

/// Computes a run again, which ends where anything differs, since what clients
/// keep to themselves is in no folder; after each version that the run
/// evaluated, and at its end, it looks where tokens of their test rows go.
/// Where nothing is merged that is at its end alone. Returns `invalid_config`
/// where no token is routed, or a client's data is elsewhere.
[[nodiscard]] result<routing_of_run>
routing_of(const std::filesystem::path& folder, const model_maker& make_model,
           const stage_teller& now = {});

/// `troupe eval RUN --routing`, and of a store what eval_routing_at_home does.
exit_code eval_routing(const std::string& folder, const model_maker& make_model,
                       bool in_json, streams io);

} // namespace troupe::node
