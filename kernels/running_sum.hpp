#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace troupe::kernels {

/// A block that is a sum over all clients, divided by their number, when
/// `added` comes to it: SCAFFOLD's control variate. What it is divided by may
/// grow, and the quotient is rounded, so the sum itself is kept from version to
/// version.
/// @param sum of all that was ever added; empty: `base` times `clients`
/// @param out the quotient
/// @pre base, added and out are of one size, and clients > 0
void add_to_sum(std::span<const float> base, std::span<const double> added,
                std::uint64_t clients, std::vector<double>& sum,
                std::span<float> out);

} // namespace troupe::kernels
