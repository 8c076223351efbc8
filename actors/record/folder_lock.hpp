#pragma once

#include <filesystem>
#include <utility>

#include "core/result.hpp"

namespace troupe::actors {

/// A folder belongs to one process at a time: to whoever holds this. The system
/// takes it back from a process that died.
class folder_lock {
public:
  /// Fails with the other's process id if the folder is taken. The lock is a
  /// file `name` in it, which stays there.
  [[nodiscard]] static result<folder_lock>
  take(const std::filesystem::path& folder, const char* name);

  folder_lock(folder_lock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {
    // nop
  }

  ~folder_lock();

private:
  explicit folder_lock(int fd) noexcept : fd_(fd) {
    // nop
  }

  int fd_;
};

} // namespace troupe::actors
