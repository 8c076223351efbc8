#pragma once

// What a configuration's plain values mean for those who decide.

#include <cstddef>
#include <optional>
#include <string>

#include "models/data/partition.hpp"
#include "models/watched.hpp"
#include "node/config/experiment.hpp"
#include "policies/catalogue.hpp"
#include "policies/devices.hpp"
#include "policies/selection.hpp"

namespace troupe::node {

policies::circumstances circumstances_of(const experiment& x);

/// The most offers that may wait for a line, and thus be merged at once: a
/// cohort at least, or no version would ever be made.
std::uint64_t offers_max(const experiment& x);

/// So many whole offers that wait make a version or a round.
std::uint64_t offers_needed(const experiment& x);

/// Offers of one client that a version may hold.
std::size_t client_most(const experiment& x);

/// None: nothing is watched.
std::optional<models::watched> watched_of(const stop_options& x);

/// Whether clients are to say what they are worth on rows that they set aside.
bool watches_clients(const stop_options& x);

/// For people: what `stop.metric` may be that is of clients' own models.
std::string scores_to_stop_by(const data_options& x);

policies::selection selection_of(const selection_options& x);

models::partitioner partitioner_of(const partition_options& x,
                                   std::size_t clusters);

/// Of all kinds but `trace`, which is read from its file.
policies::speed_distribution speed_of(const speed_options& x);

} // namespace troupe::node
