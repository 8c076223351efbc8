#pragma once

// What merge rules and server optimisers need in order to make sense. The
// arithmetic is in kernels/.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/recipe.hpp"
#include "core/result.hpp"

namespace troupe::policies {

inline constexpr std::array<std::string_view, 9> merge_kind_names{
  "mean",   "sum_over",     "mix",  "replace",    "padded",
  "median", "trimmed_mean", "krum", "product_svd"};

constexpr std::string_view to_string(merge_kind x) noexcept {
  return merge_kind_names[static_cast<std::size_t>(x)];
}

/// A rule that keeps its offers apart and ignores their weights.
constexpr bool robust(merge_kind x) noexcept {
  return x == merge_kind::median || x == merge_kind::trimmed_mean
         || x == merge_kind::krum;
}

/// Whether what the rule makes of the offers is a pseudo-gradient, which the
/// server's optimiser and learning rate turn into a step. The others say
/// themselves how far to go.
constexpr bool takes_server_step(merge_kind x) noexcept {
  return x == merge_kind::mean || x == merge_kind::padded || robust(x);
}

/// The same for a block of this family. Statistics of a module
/// (`<name>.buffers`) are averaged and not learned: momentum could make a
/// variance negative.
constexpr bool takes_server_step(std::string_view family,
                                 merge_kind x) noexcept {
  return takes_server_step(x) && !family.ends_with(".buffers");
}

/// Whether a rule looks at all offers beside each other; others add them.
constexpr bool compares_offers(merge_kind x) noexcept {
  return robust(x) || x == merge_kind::product_svd;
}

/// Whether an offer may have the first ranks of a block alone. That it lacks
/// the others moves a version, too.
constexpr bool takes_few_ranks(merge_kind x) noexcept {
  return x == merge_kind::padded || x == merge_kind::product_svd;
}

/// The fewest offers that the rule can merge.
constexpr std::uint64_t offers_needed(const merge_rule& x) noexcept {
  const std::uint64_t count = x.count;
  switch (x.kind) {
    case merge_kind::trimmed_mean:
      return 2 * count + 1;
    case merge_kind::krum:
      // Blanchard et al. (2017) prove it for n above 2 f + 2.
      return std::max(2 * count + 3, count + x.keep);
    default:
      return 1;
  }
}

static_assert(offers_needed({.kind = merge_kind::mean}) == 1);
static_assert(offers_needed({.kind = merge_kind::median}) == 1);
static_assert(offers_needed({.kind = merge_kind::trimmed_mean, .count = 2})
              == 5);
static_assert(offers_needed({.kind = merge_kind::krum, .count = 2}) == 7);
static_assert(offers_needed({.kind = merge_kind::krum, .count = 2, .keep = 6})
              == 8);

/// The rule in words, for people: "trimmed mean without the 2 largest and
/// smallest".
std::string describe(const merge_rule& x);

/// Returns `invalid_config` if the rule's own numbers make no sense.
[[nodiscard]] result<void> check(const merge_rule& x);

/// Returns `invalid_config` if the rule's numbers make no sense or merges of
/// `offers` offers are too small for it. @pre offers is the least number that a
/// merge can have: the buffer's size, 1 under `fedasync`, the quorum under
/// `sync`.
[[nodiscard]] result<void> check(const merge_rule& x, std::uint64_t offers);

/// The numbers of a server optimiser, in the symbols of Reddi et al. (2021).
struct server_numbers {
  double rate = 1; ///< eta
  double beta1 = 0.9;
  double beta2 = 0.99;
  double tau = 1e-3;
};

/// Returns `invalid_config` if a number is outside of where the papers define
/// it.
[[nodiscard]] result<void> check(const server_numbers& x);

} // namespace troupe::policies
