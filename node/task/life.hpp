#pragma once

// What a configuration says about where virtual clients live, with the files
// that it names.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "node/config/experiment.hpp"
#include "policies/devices.hpp"
#include "policies/presence.hpp"

namespace troupe::node {

/// Returns `invalid_config` or `invalid_data`, with the file and the line.
[[nodiscard]] result<policies::fleet> fleet_of(const experiment& x);

/// The same.
[[nodiscard]] result<policies::presence::options> life_of(const experiment& x);

/// A speed per line.
[[nodiscard]] result<std::vector<double>> parse_speeds(std::string_view text,
                                                       std::string_view origin);

/// A scenario in TOML: a table [[scene]] each, with `at` (seconds of the run)
/// or `version` (of the lead line), one of `join`, `leave`, `drain` and `fail`
/// with a client or a list of the first and the last one, and for `fail`
/// `restart_seconds`, without which they do not come back.
[[nodiscard]] result<std::vector<policies::scene>>
parse_scenario(std::string_view text, std::string_view origin,
               std::uint64_t clients);

} // namespace troupe::node
