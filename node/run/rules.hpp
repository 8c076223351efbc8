#pragma once

// From a configuration to what twins decide by, for whoever leads them: actors,
// or the record of a run.

#include <chrono>
#include <cstddef>
#include <memory>

#include "actors/client/dialogue.hpp"
#include "actors/messages/session.hpp"
#include "core/clock.hpp"
#include "node/task/workload.hpp"

namespace troupe::actors {
struct line_rules;
} // namespace troupe::actors

namespace troupe::node {

bool is_virtual(const experiment& x);

/// Clients that are invited before anything comes back: a round's, or as many
/// as have a visit at a time.
std::uint64_t invited_together(const experiment& x);

/// How versions are made.
actors::line_rules line_rules_of(const experiment& x);

/// Of each line, for as long as there is room on the disk: bases of models that
/// are mixed must be there and, where clients outlive the process, all that
/// their visits may still be based on.
std::uint64_t versions_kept(const experiment& x, bool outlived);

/// How a client speaks. `w` outlives the result.
actors::dialogue::options talk_of(const experiment& x, const workload& w,
                                  client_id who);

/// How often a client in another process says that it is there.
inline constexpr std::chrono::seconds beat_every{30};

/// How a client in another process speaks. `w` outlives the result.
/// @param served what its process has of the lines
actors::dialogue::options
talk_from_afar(const experiment& x, const workload& w, client_id who,
               const messages::run_id& run,
               std::shared_ptr<actors::line_cache> served);

/// Kernel workers, resolved.
std::size_t worker_count(const experiment& x);

} // namespace troupe::node
