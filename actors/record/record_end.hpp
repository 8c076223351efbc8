#pragma once

// How much of the record the ledger stands behind.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "actors/record/sqlite.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"

namespace troupe::actors::sqlite {

/// Bytes of events.jsonl at the last commit; 0: none was.
std::uint64_t record_bytes(database& ledger);

/// In a transaction.
void note_record_bytes(database& ledger, std::uint64_t bytes);

/// Where, after the first `from` bytes, the record says of a version that comes
/// after the head of its line, or of a line that is not there; nothing if it
/// does not.
[[nodiscard]] result<std::optional<std::uint64_t>>
end_of_record(const std::filesystem::path& events, std::uint64_t from,
              const std::function<std::optional<version>(line_id)>& head_of);

} // namespace troupe::actors::sqlite
