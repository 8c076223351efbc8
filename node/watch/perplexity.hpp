#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "models/objective.hpp"
#include "models/trainer.hpp"

namespace troupe::node {

/// Where scores are of tokens. None without tokens.
std::optional<double> perplexity_of(const models::scores& x);

/// Those of clients that have tokens, the best first: the less the better.
std::vector<double>
perplexities_of(const std::map<client_id, models::scores>& xs);

/// The mean over clients of theirs, each of which counts the same, however many
/// tokens it has.
std::optional<double>
mean_perplexity(const std::map<client_id, models::scores>& xs);

/// Of all their tokens together: who has more counts more.
std::optional<double>
pooled_perplexity(const std::map<client_id, models::scores>& xs);

/// Adds what clients are worth to themselves to an evaluation's results, where
/// some were scored: `clients_perplexity.K` of each, their
/// `clients_perplexity_pooled`, and `clients_perplexity_least`, the least mean
/// over clients of all evaluations as yet, which was at
/// `clients_perplexity_least_at`.
/// @param at this one's version or round
/// @param before the evaluation before, with these; null: none
void put_perplexities(models::evaluated& to, double at,
                      const models::evaluated* before);

} // namespace troupe::node
