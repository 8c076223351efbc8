#pragma once

// How much memory torch's tensors have at once.

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace troupe::test {

/// Hears what this thread's tensors take and give back.
class tensor_memory final : public c10::MemoryReportingInfoBase {
public:
  // One of the two is torch's, by its version: so neither says `override`.
  void reportMemoryUsage(void*, std::int64_t bytes, std::int64_t, std::int64_t,
                         c10::Device) {
    add(bytes);
  }

  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t,
                         c10::Device) {
    add(bytes);
  }

  bool memoryProfilingEnabled() const {
    return true;
  }

  std::int64_t most() const noexcept {
    return most_;
  }

private:
  void add(std::int64_t bytes) noexcept {
    now_ += bytes;
    most_ = std::max(most_, now_);
  }

  std::int64_t now_ = 0;
  std::int64_t most_ = 0;
};

/// The most bytes that tensors have at once which f() makes, in this thread.
template <class Function>
std::int64_t most_tensor_bytes(Function f) {
  const auto heard = std::make_shared<tensor_memory>();
  const c10::DebugInfoGuard guard{c10::DebugInfoKind::PROFILER_STATE, heard};
  f();
  return heard->most();
}

} // namespace troupe::test
