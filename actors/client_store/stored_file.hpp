#pragma once

// What a client keeps, as bytes: docs/client_store.md. Later builds read what
// earlier ones wrote.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/client/client_file.hpp"
#include "actors/transport/codec.hpp"
#include "core/result.hpp"

namespace troupe::actors {

transport::buffer encode_state(const models::client_state& x);
[[nodiscard]] result<state_ptr> decode_state(std::span<const std::byte> x);

transport::buffer encode_open(const begun_visit& x);
[[nodiscard]] result<begun_visit> decode_open(std::span<const std::byte> x);

/// The lines that have not answered yet.
transport::buffer encode_unanswered(const std::set<line_id>& x);
[[nodiscard]] result<std::set<line_id>>
decode_unanswered(std::span<const std::byte> x);

/// A body ends with its sum.
void seal(transport::buffer& bytes);

/// What was sealed; nothing if it is not what was.
std::optional<transport::buffer> unsealed(transport::buffer bytes);

} // namespace troupe::actors
