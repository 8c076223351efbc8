#pragma once

// Which clients of the run a joining process has: a server gives numbers for
// good, so whatever can be wrong here is looked for before it is asked.

#include <optional>
#include <vector>

#include "actors/messages/terms.hpp"
#include "node/config/experiment.hpp"
#include "node/join/asked_server.hpp"
#include "node/join/join.hpp"
#include "node/join/task.hpp"
#include "node/task/own_data.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Says how it ends: `refused` only where the server said so, `unreachable`
/// where nobody answered.
std::optional<join_summary> ask_for_places(const asked_server& from,
                                           const experiment& x,
                                           const messages::store_id& store,
                                           std::vector<client_id>& to);

/// Reads what is a client's own. The work of a client that has its own, as it
/// is with the first number that one may get, and with the fewest experts that
/// any has: what does not fit here fits with no number.
std::optional<join_summary> try_work(const join_context& in,
                                     const messages::terms_given& terms,
                                     const experiment& x, own_data& mine,
                                     workload& to);

/// Whether that is its work.
bool was_tried_as(const experiment& x, client_id me);

} // namespace troupe::node
