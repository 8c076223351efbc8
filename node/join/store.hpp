#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/client/client_file.hpp"
#include "actors/messages/terms.hpp"
#include "core/result.hpp"
#include "node/join/join.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// By what a server knows a folder with clients again; drawn when the folder is
/// made, which is its owner's alone, and for a process without one.
[[nodiscard]] result<messages::store_id>
store_id_of(const std::filesystem::path& folder);

/// Writes it there again where it is gone: a process that was refused has
/// removed what it made, and this one came meanwhile.
[[nodiscard]] result<void> keep_store_id(const std::filesystem::path& folder,
                                         const messages::store_id& id);

/// What clients of a run keep, in the process's folder, which nobody else has
/// open, or in memory. That what other runs have there is set aside is said
/// when this one has its first.
/// @param own the public key by which the server knows them; empty: it has none
[[nodiscard]] result<std::shared_ptr<actors::vault>>
open_vault(const join_context& in, const std::string& run,
           const std::string& own);

/// Whether the clients of this process that have trained before did so with as
/// many experts as they would have now: what else is kept would not fit. Says
/// how it ends where one did not.
[[nodiscard]] std::optional<join_summary>
has_as_many_experts(const join_context& in, const std::string& run,
                    const workload& work, const std::vector<client_id>& mine,
                    const actors::vault& kept);

} // namespace troupe::node
