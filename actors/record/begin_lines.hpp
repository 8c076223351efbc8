#pragma once

#include <map>

#include "actors/record/store.hpp"
#include "core/result.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// Version 0 of each line, where the store has none.
result<void> begin_lines(store& books, const models::layout& blocks,
                         const std::map<block_id, shared_values>& initial);

} // namespace troupe::actors
