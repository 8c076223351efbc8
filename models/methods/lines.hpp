#pragma once

// Methods that look at a client's validation rows to say what of others it
// uses.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace troupe::models {

/// The softmax of minus what each is: the least counts most. They add up to
/// one. @pre finite
std::vector<double> softmax_of_less(std::span<const double> xs);

/// At most so many of the rows, evenly from first to last; 0: all.
std::vector<std::uint32_t> spread_rows(std::span<const std::uint32_t> rows,
                                       std::size_t most);

} // namespace troupe::models
