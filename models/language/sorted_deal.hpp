#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace troupe::models {

/// Of the protocol that is known from SCAFFOLD (Karimireddy et al., 2020).
struct sorted_deal {
  std::size_t clients = 1; ///< Not 0.
  /// Of the rows, so many are dealt sorted by label, the others as they come:
  /// with 0 clients are alike, with 1 each has few labels.
  double sorted_fraction = 0.9;
  std::uint64_t seed = 0;
};

/// Rows 0 to labels.size() - 1: shuffled, the first ones dealt evenly, the rest
/// sorted by label and cut into as many stretches as there are clients, of
/// which client k has the k-th. All rows have one owner; those of a client are
/// sorted. Two sets of rows with the same shares of labels are dealt alike,
/// which is what gives test rows the skew of training rows.
std::vector<std::vector<std::uint32_t>>
deal_sorted(std::span<const std::uint32_t> labels, const sorted_deal& how);

} // namespace troupe::models
