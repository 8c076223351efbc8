#pragma once

#include "actors/messages/internal.hpp"
#include "core/recipe.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// Numbers of invitations grow by no more than this.
inline constexpr std::uint64_t numbers_ahead_max = std::uint64_t{1} << 32;

/// Whether a visit can be begun: its role is one of the recipe's, or that of
/// its last visits, and its number not so far ahead of the `last` that none
/// would be left.
bool is_sound(const messages::ticket& x, visit_number last,
              const recipe& method);

/// Whether a line was served as it was asked for: all its blocks in their
/// order, of the size of that rank, finite.
bool is_sound(const messages::line_served& x, std::uint32_t rank,
              const models::layout& blocks);

} // namespace troupe::actors
