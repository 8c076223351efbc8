#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "actors/record/snapshot.hpp"
#include "actors/record/sqlite.hpp"
#include "models/version_store.hpp"

namespace troupe::actors::sqlite {

/// A snapshot in a ledger: the parts, the values that they name, and a copy of
/// each table whose rows change, so that the ledger can go back to it.
struct kept_snapshot {
  snapshot what;
  std::uint64_t events_bytes = 0; ///< The length of events.jsonl then.
};

/// Keeps it in place of the last one, in one transaction. Large values go to
/// `files` before. Returns the files that nobody names any more.
[[nodiscard]] result<std::set<models::digest>>
keep(database& ledger, models::version_store& files, const kept_snapshot& x,
     std::size_t small_bytes_max);

/// Takes the ledger back to its snapshot, in one transaction, and returns that;
/// nothing if there is none. Versions after it are gone.
[[nodiscard]] result<std::optional<kept_snapshot>>
rewind(database& ledger, const models::version_store& files);

/// All files that rows name.
[[nodiscard]] result<std::set<models::digest>> named_files(database& ledger);

/// Whether some row still names that file.
bool is_named(database& ledger, const std::string& content);

} // namespace troupe::actors::sqlite
