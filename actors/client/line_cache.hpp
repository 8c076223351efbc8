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

/// The last version of each line that any of them was served, by one server:
/// one that began from a copy may have given the same number to other values.
/// Thread-safe.
class line_cache {
public:
  struct entry {
    version base{};
    std::uint32_t rank = 0; ///< 0: whole.
    std::vector<messages::block_values> blocks;
    std::uint32_t server = 0; ///< The how many-th.
  };

  /// Who serves from now on is another one.
  void forget();

  /// The how many-th server this is.
  std::uint32_t server() const;

  /// @param rank how many are wanted; 0: whole
  std::optional<entry> find(line_id line, std::uint32_t rank) const;

  /// What another server served is not kept.
  /// @returns its blocks, or those that were here if they say the same
  std::vector<messages::block_values> put(line_id line, entry x);

private:
  /// Returns the same version, where one is there already.
  std::optional<entry> take_place(line_id line, entry& x);

  mutable std::mutex mutex_;
  std::map<line_id, entry> newest_;
  std::uint32_t server_ = 0;
};

} // namespace troupe::actors
