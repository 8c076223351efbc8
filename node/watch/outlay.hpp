#pragma once

#include <cstdint>
#include <filesystem>

#include "actors/metrics/status.hpp"

namespace troupe::node {

/// All bytes of the files below a folder that can be read; 0 where there is
/// none.
std::uint64_t bytes_below(const std::filesystem::path& folder);

/// What this process takes of its machine, for who looks twice a second: of
/// what takes time to find out it says for some seconds the same.
class outlay {
public:
  /// @param folder whose disk it fills; empty: none
  explicit outlay(std::filesystem::path folder);

  /// Looks now. Says whether it was one of those times at which whatever takes
  /// time is looked at.
  bool look();

  const actors::process_outlay& last() const noexcept {
    return last_;
  }

private:
  void look_closely();

  std::filesystem::path folder_;
  actors::process_outlay last_;
  std::uint64_t looks_ = 0;
};

} // namespace troupe::node
