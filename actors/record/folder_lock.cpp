#include "actors/record/folder_lock.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

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

auto taken(const std::filesystem::path& folder, const std::string& other) {
  return fail(errc::storage_failure,
              folder.string() + ": " + other
                + " works in this folder; end it, or take another folder");
}

} // namespace

result<folder_lock> folder_lock::opened(const std::filesystem::path& folder,
                                        const char* name) {
  const auto path = folder / name;
  const auto fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    const std::error_code code{errno, std::generic_category()};
    return fail(errc::storage_failure,
                path.string() + ": cannot open the file: " + code.message()
                  + "; make the folder writable for this user");
  }
  return folder_lock{fd, path};
}

result<std::string> folder_lock::close_to_others() {
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return holder(fd_);
    const std::error_code code{errno, std::generic_category()};
    return fail(errc::storage_failure,
                path_.string() + ": cannot lock the file: " + code.message());
  }
  // For people and for the text above: on a full disk it is missing, and that
  // is all.
  const auto text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd_, 0) == 0)
    (void)!::pwrite(fd_, text.data(), text.size(), 0);
  return std::string{};
}

result<folder_lock> folder_lock::take(const std::filesystem::path& folder,
                                      const char* name) {
  auto x = opened(folder, name);
  if (!x)
    return x;
  const auto other = x->close_to_others();
  if (!other)
    return tl::make_unexpected(other.error());
  if (!other->empty())
    return taken(folder, *other);
  return x;
}

result<void> folder_lock::wait_until_free(
  const std::filesystem::path& folder, const char* name,
  const std::function<void(const std::string&)>& say) {
  constexpr std::chrono::milliseconds moment{100};
  constexpr int moments = 50;
  auto x = opened(folder, name);
  if (!x)
    return tl::make_unexpected(x.error());
  for (int i = 1;; ++i) {
    const auto other = x->close_to_others();
    if (!other)
      return tl::make_unexpected(other.error());
    if (other->empty())
      return {};
    if (i == moments)
      return taken(folder, *other);
    if (i == 1 && say)
      say(folder.string() + ": " + *other
          + " works in this folder; it may be ending, and is waited for");
    std::this_thread::sleep_for(moment);
  }
}

folder_lock::~folder_lock() {
  if (fd_ >= 0)
    ::close(fd_);
}

} // namespace troupe::actors
