#pragma once

#include "actors/messages/records.hpp"
#include "actors/record/sqlite.hpp"

namespace troupe::actors::sqlite {

/// Stores what the director must not forget, in one transaction.
[[nodiscard]] result<void> save(database& db,
                                const messages::save_requested& x);

} // namespace troupe::actors::sqlite
