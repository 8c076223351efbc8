#include "actors/client/server_screen.hpp"

#include <algorithm>
#include <bit>

#include "models/adapters/rank_prefix.hpp"

namespace troupe::actors {

namespace {

/// Written so that it takes many at a time.
bool are_finite(std::span<const float> xs) {
  constexpr std::uint32_t exponent = 0x7f800000;
  std::uint32_t strange = 0;
  for (const float x : xs)
    strange |=
      (std::bit_cast<std::uint32_t>(x) & exponent) == exponent ? 1u : 0u;
  return strange == 0;
}

} // namespace

bool is_sound(const messages::ticket& x, visit_number last,
              const recipe& method) {
  const auto roles = std::max<std::size_t>(method.roles.size(), 1);
  return (x.role < roles || is_last_visit(method, x.role))
         && (x.visit.number <= last
             || x.visit.number.value - last.value <= numbers_ahead_max);
}

bool is_sound(const messages::line_served& x, std::uint32_t rank,
              const models::layout& blocks) {
  const auto* line = blocks.find(x.line);
  if (line == nullptr)
    return false;
  if (x.unchanged != 0)
    return x.blocks.empty();
  return std::ranges::equal(
    x.blocks, line->blocks, [&](const auto& served, block_id wanted) {
      return served.block == wanted && served.values
             && served.values->size()
                  == models::prefix_size(*blocks.find(wanted), rank)
             && are_finite(*served.values);
    });
}

} // namespace troupe::actors
