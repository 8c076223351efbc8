#pragma once

// Options that several methods have.

#include "core/recipe.hpp"

namespace troupe::policies::methods {

/// How many blocks of a family there are, and what these are.
option_spec components(double count, std::string_view what);

/// Of a client's own mixture of them.
std::vector<option_spec> of_mixture();

/// Ranks of any layer.
inline constexpr number_range ranks{.min = 1, .max = 65'536};

/// Of adapters whose size is a share of what they adapt.
std::vector<option_spec> share_of_layers();

/// Of adapters over a model that is frozen; the common one has so many ranks
/// by default.
std::vector<option_spec> over_frozen_model(double rank,
                                           number_range range = ranks);

/// Of a gate over a frozen common model, and of the experts behind it. @param
/// answer the default of that option: 0 is "expert", and 1 "mixture"
std::vector<option_spec> of_gated(double answer = 0);

std::vector<option_spec> joined(std::vector<option_spec> xs,
                                const std::vector<option_spec>& more);

} // namespace troupe::policies::methods
