#pragma once

// The methods that troupe carries, and what can be said about a recipe without
// running it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/recipe.hpp"
#include "core/result.hpp"
#include "policies/weighting.hpp"

namespace troupe::policies {

/// All methods that are built, in the order of methods/methods.hpp.
std::span<const recipe> catalogue();

/// Null if no such method is built.
const recipe* find_recipe(std::string_view name);

/// Names of methods that are known and not built yet.
std::span<const std::string_view> announced_methods();

inline constexpr std::array<std::string_view, 4> pace_names{
  "sync", "semisync", "fedbuff", "fedasync"};

constexpr std::string_view to_string(pace_kind x) noexcept {
  return pace_names[static_cast<std::size_t>(x)];
}

inline constexpr std::array<std::string_view, 3> standing_names{
  "exact", "extension", "refused"};

constexpr std::string_view to_string(standing x) noexcept {
  return standing_names[static_cast<std::size_t>(x)];
}

/// What a configuration says of a method beside its name.
struct circumstances {
  // NOLINTNEXTLINE: a pace with all else as published.
  circumstances(pace_kind x) : pace(x), alone(x == pace_kind::fedasync) {
    // nop
  }

  pace_kind pace;
  bool alone; ///< One offer makes a version: under `fedbuff` if K is 1.
  merge_kind rule = merge_kind::mean; ///< In the place of means.
  weight_kind weights = weight_kind::examples;
  bool server_optimises = false; ///< By another optimiser than "plain".
  bool closes_early = false;     ///< A round does with fewer offers than its n.
  bool over_selects = false;     ///< A round invites more than its n.
  bool clips = false;            ///< Offers have a largest norm.
  bool rounds = false;           ///< What is sent has fewer digits.
};

/// How the method relates to its publication under these circumstances.
standing standing_of(const recipe& method, const circumstances& x);

/// Why a pair is refused, or what an extension does that the publication does
/// not; empty for what is exact. Whole sentences.
std::string remark_on(const recipe& method, const circumstances& x);

/// What a version becomes of the offers that it merges, in symbols; empty
/// where nothing is merged.
std::string formula_of(const recipe& method, const circumstances& x);

/// Says whether the recipe makes sense by itself. Returns `invalid_config` with
/// the first thing that does not, and what would do.
[[nodiscard]] result<void> check(const recipe& method);

/// What becomes of a module's float buffers, such as batch norm's statistics.
enum class buffer_policy : std::uint8_t {
  average, ///< As the recipe says: merged like parameters, without an
           ///< optimiser.
  local,   ///< Each client keeps its own.
  freeze,  ///< All keep the initial ones.
};

/// The recipe with its shared blocks `<name>.buffers` under this policy.
recipe with_buffers(recipe method, buffer_policy policy);

/// What a configuration says about merging.
struct merging {
  merge_rule rule;         ///< In the place of means.
  bool is_clipped = false; ///< Offers have a largest norm.
};

/// A recipe under it. Returns `invalid_config` where that cannot hold: no block
/// takes the rule, or what clients do not offer moves a version as well.
result<recipe> with_merging(recipe method, const merging& how);

/// The recipe with the numbers that its options say: of instances, of ranks, of
/// what is chosen and disclosed, of members and quotas. A role whose members
/// are none falls away. Where there is an option `<family>_server_rate`, it is
/// the part of its way by which the mean moves that family: below 1 it is mixed
/// in at that rate. Returns
/// `invalid_config` where an option can't have its value, alone or beside the
/// others, or such a rate is below 1 and the rule no mean.
[[nodiscard]] result<recipe> with_options(recipe method, const options& said);

/// The recipe whose first `members` clients are invited more often than the
/// others: `quota` of them in each window. They do what all do. 0 members: as
/// it is. Returns `invalid_config` for a recipe that has several roles.
[[nodiscard]] result<recipe> with_often(recipe method, std::uint32_t members,
                                        std::uint32_t quota);

/// The table of (method, pace) pairs and the remarks, in Markdown:
/// docs/methods.md holds it, and a test compares.
std::string pairs_as_markdown();

} // namespace troupe::policies
