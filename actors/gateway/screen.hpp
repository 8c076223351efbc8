#pragma once

#include <optional>
#include <span>
#include <vector>

#include "actors/messages/internal.hpp"
#include "core/recipe.hpp"
#include "models/layout.hpp"
#include "policies/weighting.hpp"

namespace troupe::actors {

/// What does not change between offers.
struct screening_rules {
  const models::layout* blocks = nullptr;
  std::span<const disclosure> disclosures;
  policies::weight_kind weighting = policies::weight_kind::examples;
  double norm_max = 0; ///< Of all deltas together, the clip; 0: none.
};

/// Refuses what must not reach an actor. What passes is complete: each line
/// that it offers to has all its blocks, on one base, of the right size, whose
/// values and weights can be added exactly whatever the others are. So an
/// aggregator never meets an offer that would spoil its batch.
/// @param examples what the client registered; bounds its weights
std::optional<policies::verdict> screen(const messages::offer_made& x,
                                        std::uint64_t examples,
                                        const screening_rules& rules);

/// Whether it discloses what is declared, each thing once: which is bounded.
bool discloses_soundly(const messages::offer_made& x,
                       std::span<const disclosure> declared);

/// One part for each line. @pre `screen` lets `x` pass
std::vector<messages::part_offered> split(const messages::offer_made& x,
                                          std::uint64_t examples,
                                          const screening_rules& rules);

} // namespace troupe::actors
