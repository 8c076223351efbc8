#pragma once

// What lines said of the parts of one visit.

#include <algorithm>
#include <cstddef>
#include <map>

#include "core/ids.hpp"
#include "policies/admission.hpp"

namespace troupe::actors {

using part_verdicts = std::map<line_id, policies::verdict>;

inline bool is_kept(policies::verdict x) {
  return x == policies::verdict::accepted || x == policies::verdict::duplicate;
}

inline bool is_any_kept(const part_verdicts& parts) {
  return std::ranges::any_of(parts,
                             [](const auto& x) { return is_kept(x.second); });
}

/// A part that is refused as `overloaded` comes again.
inline bool is_whole(const part_verdicts& parts, std::size_t lines_total) {
  return parts.size() >= lines_total
         && std::ranges::none_of(parts, [](const auto& x) {
              return x.second == policies::verdict::overloaded;
            });
}

} // namespace troupe::actors
