#pragma once

#include <string>

#include "node/commands/command.hpp"

namespace troupe::node {

struct join_summary;

/// What a process says when its run is over, with the figures of its clients:
/// people read no single client's.
std::string last_words(const join_summary& x, bool as_json);

/// `troupe join`: clients of a run that is served elsewhere.
exit_code join_command(const model_maker& make_model, arguments args,
                       streams io);

} // namespace troupe::node
