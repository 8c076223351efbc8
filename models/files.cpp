#include "models/files.hpp"

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::models {

namespace {

constexpr const char* unfinished_suffix = ".unfinished";

/// Closes what it holds.
class descriptor {
public:
  explicit descriptor(int x) noexcept : fd_(x) {
    // nop
  }

  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  ~descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int get() const noexcept {
    return fd_;
  }

  /// Closes now, when errors still matter: a full disk may show only here.
  bool close() noexcept {
    return ::close(std::exchange(fd_, -1)) == 0;
  }

private:
  int fd_;
};

tl::unexpected<error> fail_errno(errc code, const std::filesystem::path& path,
                                 const char* what) {
  const auto reason = std::error_code{errno, std::generic_category()}.message();
  return fail(code, path.string() + ": cannot " + what + ": " + reason);
}

bool write_all(int fd, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

/// A rename is on the disk when its folder is.
bool sync_folder(const std::filesystem::path& path) noexcept {
  const auto folder = path.has_parent_path() ? path.parent_path() : ".";
  const descriptor fd{
    ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  return fd.get() >= 0 && ::fsync(fd.get()) == 0;
}

} // namespace

result<std::vector<std::byte>> read_file(const std::filesystem::path& path,
                                         errc code) {
  const descriptor fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (fd.get() < 0)
    return fail_errno(code, path, "open the file");
  struct stat about {};
  if (::fstat(fd.get(), &about) != 0)
    return fail_errno(code, path, "read the file's size");
  if (!S_ISREG(about.st_mode))
    return fail(code, path.string() + ": not a regular file");
  std::vector<std::byte> bytes(static_cast<std::size_t>(about.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto n = ::read(fd.get(), bytes.data() + have, bytes.size() - have);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail_errno(code, path, "read the file");
    if (n == 0)
      return fail(code, path.string() + ": became shorter while it was read");
    have += static_cast<std::size_t>(n);
  }
  return bytes;
}

result<void> replace_file(const std::filesystem::path& path,
                          std::span<const std::span<const std::byte>> parts,
                          const replace_options& opts) {
  static std::atomic<unsigned> count{0};
  auto unfinished = path;
  unfinished += "." + std::to_string(::getpid()) + "-" + std::to_string(++count)
                + unfinished_suffix;
  const auto give_up = [&](const char* what) {
    auto failure = fail_errno(errc::storage_failure, path, what);
    ::unlink(unfinished.c_str());
    return failure;
  };
  descriptor fd{
    ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (fd.get() < 0)
    return fail_errno(errc::storage_failure, path, "create the file");
  for (const auto part : parts)
    if (!write_all(fd.get(), part))
      return give_up("write the file");
  if (opts.sync && ::fsync(fd.get()) != 0)
    return give_up("sync the file");
  if (!fd.close())
    return give_up("write the file");
  if (::rename(unfinished.c_str(), path.c_str()) != 0)
    return give_up("put the file in its place");
  if (opts.sync && !sync_folder(path))
    return fail_errno(errc::storage_failure, path, "sync the folder");
  return {};
}

bool is_unfinished(const std::filesystem::path& path) {
  return path.extension() == unfinished_suffix;
}

} // namespace troupe::models
