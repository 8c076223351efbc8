#pragma once

#include <map>
#include <memory>
#include <string>

#include "node/watch/board.hpp"
#include "node/watch/http/server.hpp"

namespace troupe::node {

/// /metrics, /healthz, /readyz and /why. They read the board, and nothing of
/// the run itself.
std::map<std::string, http::page>
pages_of(std::shared_ptr<const status_board> board);

/// The same of a process with clients of a run that is served elsewhere.
std::map<std::string, http::page>
pages_of(std::shared_ptr<const process_board> board);

} // namespace troupe::node
