#pragma once

#include <map>
#include <memory>
#include <string>

#include "node/watch/board.hpp"
#include "node/watch/http/server.hpp"
#include "node/watch/http/tally.hpp"

namespace troupe::node {

/// /metrics, /healthz, /readyz and /why. They read the board, and nothing of
/// the run itself.
/// @param readers of these pages; null: nobody counts them
std::map<std::string, http::page>
pages_of(std::shared_ptr<const status_board> board,
         std::shared_ptr<const http::tally> readers = {});

/// The same of a process with clients of a run that is served elsewhere.
std::map<std::string, http::page>
pages_of(std::shared_ptr<const process_board> board,
         std::shared_ptr<const http::tally> readers = {});

} // namespace troupe::node
