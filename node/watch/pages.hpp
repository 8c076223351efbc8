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

} // namespace troupe::node
