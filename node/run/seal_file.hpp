#pragma once

// The keys of a served run's tickets, once they were changed: `seal` in its
// folder, in the place of the one in the ledger.

#include <filesystem>
#include <optional>

#include "actors/gateway/seal.hpp"
#include "core/result.hpp"

namespace troupe::node {

/// Nothing: they were never changed.
[[nodiscard]] result<std::optional<actors::seals::keys>>
read_seals(const std::filesystem::path& path);

[[nodiscard]] result<void> write_seals(const std::filesystem::path& path,
                                       const actors::seals::keys& x);

/// A new key, drawn at random; the one that was is good for so long, and those
/// before it for as long as was said. An error where there are too many.
[[nodiscard]] result<actors::seals::keys>
after(const actors::seals::keys& x, std::int64_t now_ms, std::int64_t for_ms);

} // namespace troupe::node
