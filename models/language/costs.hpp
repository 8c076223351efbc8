#pragma once

// What a client's factors cost in a language model, as publications count it:
// known before anything is computed.

#include <cstdint>

#include "core/recipe.hpp"
#include "models/inner_setup.hpp"
#include "models/language/spec.hpp"

namespace troupe::models {

/// Publications count values of two bytes, whatever is sent.
inline constexpr std::uint64_t published_value_bytes = 2;

/// Of a client of so many experts that a router chooses among, in values over
/// all layers. One way of a round; "averaged" is who averages all of these
/// experts and has no router.
struct routed_costs {
  std::uint32_t experts = 0;
  std::uint64_t expert = 0; ///< Of one.
  std::uint64_t attention = 0;
  std::uint64_t router = 0; ///< Nothing where there is one expert.
  std::uint64_t sent = 0;
  std::uint64_t averaged = 0;
  bool shares_attention = false;

  /// What the router takes, of memory and of computing, over what all experts'
  /// factors do.
  double router_share() const noexcept;

  /// Of a forward pass over so many tokens: a product and a sum for each value.
  std::uint64_t router_operations(std::uint64_t tokens) const noexcept;

  /// With what stands beside attention.
  std::uint64_t all_sent() const noexcept;
  std::uint64_t all_averaged() const noexcept;
};

/// @pre the plans have experts, and a router
routed_costs routed_costs_of(const language_spec& of, const inner_plans& plans,
                             const recipe& method, std::uint32_t experts);

/// Of a client with adapters, at full rank: what is merged and what it keeps,
/// without the layer that says what a row is, which publications count or not.
struct adapter_costs {
  std::uint64_t common = 0;
  std::uint64_t own = 0;
  std::uint64_t head = 0;

  std::uint64_t total() const noexcept {
    return common + own;
  }
};

adapter_costs adapter_costs_of(const inner_plans& plans) noexcept;

} // namespace troupe::models
