#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "core/values.hpp"

namespace troupe::models {

/// All that a client keeps between visits, all of it personal. It is written in
/// one transaction with the offer that goes out, and becomes current when the
/// recipe says (state_rule).
struct client_state {
  std::map<std::string, personal_values> blocks; ///< Personal blocks.
  std::map<std::string, personal_values>
    moments; ///< Of optimisers that are kept.
  std::map<std::string, std::uint64_t> counters;
  std::array<std::uint64_t, 4> random{}; ///< Zeros until a procedure uses it.
  std::uint64_t visits = 0;              ///< Whose work is in this state.

  static constexpr auto fields(auto& x) {
    return std::tie(x.blocks, x.moments, x.counters, x.random, x.visits);
  }

  friend bool operator==(const client_state&, const client_state&) = default;
};

} // namespace troupe::models
