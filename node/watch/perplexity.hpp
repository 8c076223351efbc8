#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "models/objective.hpp"

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

} // namespace troupe::node
