#pragma once

// What a process hears of a run before it has a place in it.

#include "actors/messages/terms.hpp"
#include "node/config/experiment.hpp"
#include "node/run/process_book.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Without paths: these are of the server's machine.
messages::terms_given terms_of(const process_book& book, const experiment& x,
                               const workload& work);

} // namespace troupe::node
