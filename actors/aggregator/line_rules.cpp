#include "actors/aggregator/line_rules.hpp"

namespace troupe::actors {

ledger::options ledger_options(const line_rules& rules,
                               const models::layout& blocks,
                               const models::line_layout& line) {
  ledger::options x{.line = line.id,
                    .blocks = {},
                    .admission = rules.admission,
                    .discount = rules.discount,
                    .step = rules.step,
                    .buffer_size = rules.buffer_size,
                    .by_round = rules.by_round,
                    .target_is_model = rules.target_is_model};
  for (const auto id : line.blocks)
    x.blocks.push_back(*blocks.find(id));
  return x;
}

} // namespace troupe::actors
