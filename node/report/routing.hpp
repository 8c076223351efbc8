#pragma once

// Who asks for which expert, where visits say so: as figures, and for
// summary.json. All of it is made from the record.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "core/json.hpp"
#include "core/recipe.hpp"
#include "models/layout.hpp"
#include "node/config/experiment.hpp"
#include "node/report/figures.hpp"
#include "node/report/flat_record.hpp"
#include "policies/request_watch.hpp"

namespace troupe::node {

/// The experts that visits of a run say they ask for, by name; empty where its
/// method has them say nothing of it.
std::vector<std::string> experts_of(const experiment& x);

/// How many these are, and how many of them a visit asks for.
policies::request_watch::options requests_of(const experiment& x);

/// The visit that an event is of.
visit_id visit_in(const flat_record& x);

/// What an `offered` event says was asked for, best first. Empty: nothing that
/// such a visit may say.
std::vector<std::uint32_t> request_in(const flat_record& x,
                                      std::size_t experts);

/// Empty where visits say nothing of it.
std::vector<drawn_figure> figures_of_routing(const run_record& x);

/// What visits of a run asked for, as its events have it; none without events,
/// or where visits say nothing of it.
std::optional<policies::request_watch>
requests_in(const std::filesystem::path& folder, const recipe& method,
            const models::layout& blocks);

/// The object of summary.json; none without events, or where visits say nothing
/// of it.
std::optional<json> routing_in(const std::filesystem::path& folder,
                               const recipe& method,
                               const models::layout& blocks);

} // namespace troupe::node
