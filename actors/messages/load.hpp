#pragma once

#include <cstdint>
#include <vector>

#include "actors/messages/offer.hpp"

namespace troupe::messages {

/// Gateway to director, once for each visit whose offer is sound: what use the
/// experts are to its client. It decides nothing.
struct visit_loaded {
  visit_id visit;
  std::uint64_t examples = 0;
  std::vector<block_id> blocks; ///< That it offers to.
  std::vector<disclosed_values> disclosures;
};

} // namespace troupe::messages
