#pragma once

#include <map>
#include <string>

#include "actors/record/store.hpp"
#include "core/result.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// Version 0 of each line, where the store has none. Returns the digest of each
/// block of it, by name.
result<std::map<std::string, models::digest>>
begin_lines(store& books, const models::layout& blocks,
            const std::map<block_id, shared_values>& initial);

} // namespace troupe::actors
