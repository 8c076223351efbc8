#pragma once

#include <filesystem>
#include <functional>
#include <string>
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

  /// Waits five seconds for a folder that is taken: who was killed a moment ago
  /// may still have it. Fails as `take` does.
  /// @param say told once who is waited for; may be empty
  [[nodiscard]] static result<void>
  wait_until_free(const std::filesystem::path& folder, const char* name,
                  const std::function<void(const std::string&)>& say);

  folder_lock(folder_lock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)) {
    // nop
  }

  ~folder_lock();

private:
  folder_lock(int fd, std::filesystem::path path) noexcept
    : fd_(fd),
      path_(std::move(path)) {
    // nop
  }

  static result<folder_lock> opened(const std::filesystem::path& folder,
                                    const char* name);

  /// Empty: it is. Else who has it.
  result<std::string> close_to_others();

  int fd_;
  std::filesystem::path path_;
};

} // namespace troupe::actors
