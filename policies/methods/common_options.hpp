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

/// What products of factors count: alpha over their rank, or over its root.
std::vector<option_spec> of_alpha(double alpha, bool over_root);

/// The layers of a language model that a method adapts by default: what makes
/// queries and values, or all of attention and of feed-forward blocks.
enum class adapted_layers : int { query_value, blocks };

/// Whose a layer is that says what a row of labelled text is.
option_spec head_of_clients();

/// What offers weigh: one, or as examples do.
option_spec weights_of_offers();

/// What is left of an optimiser's moments when a visit ends.
option_spec moments_between_visits();

/// Of adapters over a model that is frozen; the common one has so many ranks
/// by default, and those of blocks 8 beside attention.
std::vector<option_spec>
over_frozen_model(double rank, number_range range = ranks,
                  adapted_layers of = adapted_layers::query_value);

/// Ranks of an adapter of which clients have the first.
inline constexpr number_range few_ranks{.min = 1, .max = 1024};

/// How many a client has: HETLoRA's ranks.
std::vector<option_spec> of_first_ranks();

/// Of a gate over a frozen common model, and of the experts behind it. @param
/// answer the default of that option: 0 is "expert", and 1 "mixture"
std::vector<option_spec> of_gated(double answer = 0);

std::vector<option_spec> joined(std::vector<option_spec> xs,
                                const std::vector<option_spec>& more);

} // namespace troupe::policies::methods
