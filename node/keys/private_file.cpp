#include "node/keys/private_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <system_error>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/files.hpp"

namespace troupe::node {

namespace {

constexpr std::size_t bytes_max = 4096;
constexpr mode_t of_others = S_IRWXG | S_IRWXO;

auto refused(const std::filesystem::path& path, const std::string& why) {
  return fail(errc::storage_failure, path.string() + " " + why);
}

/// Whether that is the machine's affair, and may be over in a moment.
bool is_of_the_machine(int why) {
  constexpr std::array all{EMFILE, ENFILE, ENOMEM, EIO,
                           ESTALE, EINTR,  EAGAIN, ETIMEDOUT};
  return std::ranges::find(all, why) != all.end();
}

auto refused_by_system(const std::filesystem::path& path) {
  const int why = errno;
  return fail(code_of(why),
              path.string() + " cannot be read: " + std::strerror(why));
}

/// Who has no descriptors left does not get as far as the name: whether there
/// is such a file is asked by itself, which needs none.
void look_for(const std::filesystem::path& path) {
  const int why = errno;
  struct stat what {};
  const bool is_gone = (why == EMFILE || why == ENFILE)
                       && ::stat(path.c_str(), &what) != 0 && errno == ENOENT;
  errno = is_gone ? ENOENT : why;
}

/// Reads until its end, and never more than it may hold.
result<std::string> read_open(int fd, const std::filesystem::path& path) {
  struct stat what {};
  if (::fstat(fd, &what) != 0)
    return refused_by_system(path);
  if (!S_ISREG(what.st_mode))
    return refused(path, "is no file");
  if ((what.st_mode & of_others) != 0)
    return refused(path,
                   "may be read or written by others than its owner; chmod "
                   "600 would do");
  if (what.st_uid != ::geteuid())
    return refused(path, "is another user's");
  std::array<char, bytes_max + 1> bytes;
  std::size_t size = 0;
  while (size < bytes.size()) {
    const auto n = ::read(fd, bytes.data() + size, bytes.size() - size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return refused_by_system(path);
    if (n == 0)
      return std::string{bytes.data(), size};
    size += static_cast<std::size_t>(n);
  }
  return refused(path, "is longer than such a file can be");
}

} // namespace

errc code_of(int why) {
  return is_of_the_machine(why) ? errc::unavailable : errc::storage_failure;
}

result<bool> is_there(const std::filesystem::path& path) {
  std::error_code failed;
  const bool out = std::filesystem::exists(path, failed);
  if (failed)
    return fail(errc::storage_failure, path.string() + ": " + failed.message());
  return out;
}

result<std::string> read_private(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    look_for(path);
    return refused_by_system(path);
  }
  auto out = read_open(fd, path);
  ::close(fd);
  return out;
}

result<void> write_private(const std::filesystem::path& path,
                           const std::string& text) {
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(path, parts, {.sync = true, .secret = true});
}

result<void> make_private(const std::filesystem::path& folder) {
  std::error_code failed;
  if (std::filesystem::create_directories(folder, failed); failed)
    return refused(folder, "cannot be made: " + failed.message());
  struct stat what {};
  if (::stat(folder.c_str(), &what) != 0)
    return refused_by_system(folder);
  if (what.st_uid != ::geteuid())
    return refused(folder, "is another user's");
  if ((what.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refused(folder,
                   "may be changed by others than its owner; chmod 700 would "
                   "do");
  return {};
}

bool keep_to_itself() {
  return ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

} // namespace troupe::node
