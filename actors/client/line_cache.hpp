#pragma once

// What clients of one process have of the lines, so that a version that one of
// them was served crosses no wire for another, and lies in memory once.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/messages/visit.hpp"

namespace troupe::actors {

/// The last version of each line that any of them was served. Thread-safe.
class line_cache {
public:
  struct entry {
    version base{};
    std::uint32_t rank = 0; ///< 0: whole.
    std::vector<messages::block_values> blocks;
  };

  /// @param rank how many are wanted; 0: whole
  std::optional<entry> find(line_id line, std::uint32_t rank) const;

  /// @returns its blocks, or those that were here if they say the same
  std::vector<messages::block_values> put(line_id line, entry x);

private:
  mutable std::mutex mutex_;
  std::map<line_id, entry> newest_;
};

} // namespace troupe::actors
