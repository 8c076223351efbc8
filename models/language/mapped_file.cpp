#include "models/language/mapped_file.hpp"

#include <utility>

#include <sys/mman.h>
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

result<mapped_file> mapped_file::open(const std::filesystem::path& path,
                                      errc code) {
  const auto file = open_file(path, code, limits::file_bytes_max);
  if (!file)
    return tl::unexpected{file.error()};
  const auto size = static_cast<std::size_t>(file->bytes);
  std::span<const std::byte> bytes;
  if (size > 0) { // Nothing cannot be mapped.
    const auto* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (at == MAP_FAILED) {
      auto failure = fail_errno(code, path, "map the file");
      ::close(file->fd);
      return failure;
    }
    bytes = {static_cast<const std::byte*>(at), size};
  }
  ::close(file->fd);
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
