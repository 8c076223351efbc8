#pragma once

// Looks at what a run or a joining process left behind, and mends what can be
// mended without losing anything that counts.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace troupe::actors {

/// One thing that was looked at.
struct remark {
  enum class state_kind : std::uint8_t {
    fine,
    mendable, ///< And it was not asked for.
    mended,
    broken, ///< The hint says what would do.
  };

  std::string place;
  state_kind state = state_kind::fine;
  std::string what;
  std::string hint = {};
};

/// Of a run's folder with a ledger that nobody uses: the ledger, the values
/// that it names, and how its record ends.
std::vector<remark> examine_ledger(const std::filesystem::path& folder,
                                   bool mends);

/// That the file is its owner's alone.
remark examine_owner(const std::filesystem::path& path, bool mends);

} // namespace troupe::actors
