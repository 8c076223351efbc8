#pragma once

#include "actors/messages/internal.hpp"
#include "actors/messages/records.hpp"
#include "actors/record/sqlite.hpp"

namespace troupe::actors::sqlite {

/// Stores what the director must not forget, in one transaction.
[[nodiscard]] result<void> save(database& db,
                                const messages::save_requested& x);

/// The visits that a version merges, within its transaction. Returns
/// `storage_failure` if one is merged already.
[[nodiscard]] result<void> insert_merges(database& db,
                                         const messages::commit_requested& x);

} // namespace troupe::actors::sqlite
