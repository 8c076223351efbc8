#include "actors/record/folder_lock.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace troupe::actors {

namespace {

std::string holder(int fd) {
  std::array<char, 32> text{};
  const auto n = ::pread(fd, text.data(), text.size(), 0);
  const std::string found(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  const auto digits = found.substr(0, found.find('\n'));
  return digits.empty() ? "another process" : "process " + digits;
}

} // namespace

result<folder_lock> folder_lock::take(const std::filesystem::path& folder,
                                      const char* name) {
  const auto path = folder / name;
  const auto fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    const std::error_code code{errno, std::generic_category()};
    return fail(errc::storage_failure,
                path.string() + ": cannot open the file: " + code.message()
                  + "; make the folder writable for this user");
  }
  folder_lock x{fd};
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      const std::error_code code{errno, std::generic_category()};
      return fail(errc::storage_failure,
                  path.string() + ": cannot lock the file: " + code.message());
    }
    return fail(errc::storage_failure,
                folder.string() + ": " + holder(fd)
                  + " works in this folder; end it, or take another folder");
  }
  // For people and for the text above: on a full disk it is missing, and that
  // is all.
  const auto text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) == 0)
    (void)!::pwrite(fd, text.data(), text.size(), 0);
  return x;
}

folder_lock::~folder_lock() {
  if (fd_ >= 0)
    ::close(fd_);
}

} // namespace troupe::actors
