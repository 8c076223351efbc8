#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::actors {

/// What went over the wire, or would have: read by whoever reports.
struct traffic {
  std::atomic<std::uint64_t> bytes_up{0};
  std::atomic<std::uint64_t> bytes_down{0};
  std::atomic<std::uint64_t> frames_malformed{0};
};

} // namespace troupe::actors
