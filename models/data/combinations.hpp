#pragma once

// Which kinds each client of a partition by combinations has: anchors divide
// them among themselves; of all combinations some may be kept for clients that
// are held out, and the others draw from what is left.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "models/data/partition.hpp"

namespace troupe::models {

using kind_set = std::vector<std::uint32_t>; ///< Ascending.

/// The clients of a partition: the first are anchors, the last held out.
struct client_counts {
  std::size_t all = 0;
  std::size_t held_out = 0;

  std::size_t training() const noexcept {
    return all - held_out;
  }
};

/// The kinds of each client. `present` are those that there are, ascending, and
/// `name` what they are called in errors. Returns `invalid_config` if there are
/// too few of them.
[[nodiscard]] result<std::vector<kind_set>>
draw_combinations(const combinations_partition& how, const kind_set& present,
                  std::string_view name, client_counts clients,
                  std::uint64_t seed);

/// Returns `invalid_config` if there are more anchors than clients that train.
[[nodiscard]] result<void> check_anchors(std::size_t anchors,
                                         client_counts clients);

} // namespace troupe::models
