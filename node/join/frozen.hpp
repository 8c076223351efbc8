#pragma once

// What nobody trains must be the same everywhere: made from the terms, or read
// from --model, or kept by an earlier process, or asked of the server.

#include <optional>

#include "actors/messages/terms.hpp"
#include "node/join/asked_server.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Gives the task all frozen blocks as the terms name them, and keeps in the
/// store what the server gave, where there is room. Says how it ends where one
/// is nowhere.
std::optional<join_summary> settle_frozen(const asked_server& from,
                                          workload& to);

/// The same without a server: of what is made or read here, and what a store
/// has kept.
std::optional<join_summary> settle_kept(const std::string& store,
                                        const messages::terms_given& terms,
                                        workload& to);

} // namespace troupe::node
