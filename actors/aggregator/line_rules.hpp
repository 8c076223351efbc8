#pragma once

#include <cstddef>

#include "actors/aggregator/ledger.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// What all lines have in common; their blocks come from the layout. See
/// `ledger::options`.
struct line_rules {
  policies::admission_limits admission;
  policies::staleness_discount discount;
  kernels::server_step step;
  std::size_t buffer_size = 0;
  bool by_round = false;
  bool target_is_model = false;
};

/// How a line merges.
ledger::options ledger_options(const line_rules& rules,
                               const models::layout& blocks,
                               const models::line_layout& line);

} // namespace troupe::actors
