#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/recipe.hpp"

namespace troupe::policies {

/// What the configuration makes of a client's number of examples.
enum class weight_kind : std::uint8_t {
  examples,    ///< n
  square_root, ///< sqrt(n)
  logarithm,   ///< ln(1 + n)
  equal,       ///< 1
};

inline constexpr std::array<std::string_view, 4> weight_kind_names{
  "examples", "sqrt", "log", "equal"};

constexpr std::string_view to_string(weight_kind x) noexcept {
  return weight_kind_names[static_cast<std::size_t>(x)];
}

/// The weight of an offer that was trained on `examples` examples. It never
/// falls when they grow, and without any it is 0: nothing was learned.
inline double weight_of(weight_kind kind, std::uint64_t examples) noexcept {
  const auto n = static_cast<double>(examples);
  switch (kind) {
    case weight_kind::examples:
      return n;
    case weight_kind::square_root:
      return std::sqrt(n);
    case weight_kind::logarithm:
      return std::log1p(n);
    case weight_kind::equal:
      break;
  }
  return examples > 0 ? 1.0 : 0.0;
}

/// Above this a norm cannot weigh; HETLoRA's norms of adapters stay far below.
inline constexpr double rank_norm_max = 1024;

/// What decides how much one offer to one block may weigh.
struct weight_terms {
  weight_rule rule = weight_rule::examples; ///< Of the block.
  weight_kind kind = weight_kind::examples; ///< Of the configuration.
  std::uint64_t examples = 0; ///< That the client registered when it joined.
};

/// The most that such an offer can weigh: shares are at most one. A layout's
/// grid follows from the largest of these.
inline double largest_weight(const weight_terms& x) noexcept {
  switch (x.rule) {
    case weight_rule::examples:
    case weight_rule::examples_times_share:
      return weight_of(x.kind, x.examples);
    case weight_rule::rank_norm:
      return rank_norm_max;
    case weight_rule::one:
    case weight_rule::one_times_share:
      break;
  }
  return 1.0;
}

/// Says whether an offer's weight is what the client may claim. Shares add up
/// to one within 1e-6, so a product with a share may be above its bound by as
/// much.
inline bool within_bounds(double weight, const weight_terms& x) noexcept {
  // Written so that NaN fails.
  return weight > 0 && weight <= largest_weight(x) * (1 + 1e-6);
}

} // namespace troupe::policies
