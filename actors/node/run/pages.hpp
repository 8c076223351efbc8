#pragma once

#include <map>
#include <memory>
#include <string>

#include "actors/http/server.hpp"
#include "actors/node/run/board.hpp"

namespace troupe::node {

/// /metrics, /healthz, /readyz and /why. They read the board, and nothing of
/// the run itself.
std::map<std::string, http::page>
pages_of(std::shared_ptr<const status_board> board);

} // namespace troupe::node
