#pragma once

// What a process makes of a server's terms: the task, with the data that is
// here. Each step says how it ends, if it does.

#include <optional>
#include <string>
#include <vector>

#include "actors/client/client_file.hpp"
#include "actors/messages/terms.hpp"
#include "node/config/experiment.hpp"
#include "node/join/join.hpp"
#include "node/task/own_data.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// The run's configuration, with paths of ours alone.
std::optional<join_summary> read_terms(const join_context& in,
                                       const messages::terms_given& terms,
                                       experiment& to);

/// Whether there is anything where it is said that data is.
std::optional<join_summary> has_data(const join_context& in);

/// Whether the run has such a client for a process like this: those with names
/// come after those of the partition.
bool may_be(client_id who, const join_context& in, const experiment& x);

/// Data of a client's own, held against what the run learns from.
std::optional<join_summary> read_own(const join_context& in,
                                     const messages::terms_given& terms,
                                     const experiment& x, own_data& to);

/// With clients of the run's partition: it must be the run's data.
std::optional<join_summary> make_work(const join_context& in,
                                      const messages::terms_given& terms,
                                      const experiment& x, workload& to);

/// With a client that has its own.
std::optional<join_summary> make_work(const join_context& in,
                                      const messages::terms_given& terms,
                                      const experiment& x, const own_data& mine,
                                      client_id me, workload& to);

/// For people: which clients are here, and of which others something is kept.
std::string joined(const join_context& in, const experiment& x,
                   const workload& work, const std::vector<client_id>& mine,
                   const actors::vault& kept);

} // namespace troupe::node
