#include "models/language/mapped_file.hpp"

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/limits.hpp"
#include "models/files.hpp"

namespace troupe::models {

namespace {

void unmap(std::span<const std::byte> x) noexcept {
  if (!x.empty())
    ::munmap(const_cast<std::byte*>(x.data()), x.size());
}

} // namespace

// Without waiting: a pipe that nobody writes to would be waited for.
result<mapped_file> mapped_file::open(const std::filesystem::path& path,
                                      errc code) {
  const auto fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT)
    return fail(
      code, path.string()
              + ": cannot be read: there is no such file; is the path right?");
  if (fd < 0)
    return fail_errno(code, path, "open the file");
  struct stat about {};
  if (::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(fd);
    return fail(code,
                path.string()
                  + (S_ISDIR(about.st_mode) ? ": is a folder; a file would do"
                                            : ": is not a regular file"));
  }
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > limits::file_bytes_max) {
    ::close(fd);
    return fail(code, path.string() + ": has " + std::to_string(size)
                        + " bytes, and at most "
                        + std::to_string(limits::file_bytes_max) + " are read");
  }
  std::span<const std::byte> bytes;
  if (size > 0) { // Nothing cannot be mapped.
    const auto* at = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ,
                            MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
      auto failure = fail_errno(code, path, "map the file");
      ::close(fd);
      return failure;
    }
    bytes = {static_cast<const std::byte*>(at), static_cast<std::size_t>(size)};
  }
  ::close(fd);
  return mapped_file{bytes};
}

mapped_file::mapped_file(std::span<const std::byte> x) noexcept : bytes_(x) {
  // nop
}

mapped_file::mapped_file(mapped_file&& x) noexcept
  : bytes_(std::exchange(x.bytes_, {})) {
  // nop
}

mapped_file& mapped_file::operator=(mapped_file&& x) noexcept {
  if (this != &x) {
    unmap(bytes_);
    bytes_ = std::exchange(x.bytes_, {});
  }
  return *this;
}

mapped_file::~mapped_file() {
  unmap(bytes_);
}

} // namespace troupe::models
