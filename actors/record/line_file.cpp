#include "actors/record/line_file.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/limits.hpp"

namespace troupe::actors {

namespace {

constexpr const char* instead = "restore the folder from a copy, or run "
                                "config.toml again in another folder";

constexpr std::size_t written_at_once_bytes = std::size_t{1} << 16;

tl::unexpected<error> fail_errno(const std::filesystem::path& path,
                                 const char* doing) {
  const std::error_code code{errno, std::generic_category()};
  return fail(errc::storage_failure,
              path.string() + ": cannot " + doing + ": " + code.message());
}

/// Where the last whole line ends. No line is longer than what is looked at: a
/// file that somebody made terabytes of holes has no end.
result<off_t> end_of_lines(int fd, const std::filesystem::path& path) {
  constexpr off_t looked_at_max = limits::text_file_bytes_max;
  std::array<char, 4096> part;
  const auto size_of_all = ::lseek(fd, 0, SEEK_END);
  auto end = size_of_all;
  while (end > 0) {
    if (size_of_all - end >= looked_at_max)
      return fail(errc::storage_failure,
                  path.string() + ": has " + std::to_string(size_of_all)
                    + " bytes, and no line ends in the last "
                    + std::to_string(looked_at_max) + "; " + instead);
    const auto size = std::min<off_t>(end, part.size());
    const auto n =
      ::pread(fd, part.data(), static_cast<std::size_t>(size), end - size);
    if (n != size)
      return fail_errno(path, "read the file");
    const std::string_view text{part.data(), static_cast<std::size_t>(n)};
    if (const auto at = text.rfind('\n'); at != text.npos)
      return end - size + static_cast<off_t>(at) + 1;
    end -= size;
  }
  if (end < 0)
    return fail_errno(path, "find the end of the file");
  return end;
}

/// Bytes after the last whole line.
std::size_t half_line_of(std::string_view text) {
  const auto at = text.rfind('\n');
  return at == text.npos ? text.size() : text.size() - at - 1;
}

bool take_back(int fd, std::size_t bytes) {
  const auto end = ::lseek(fd, 0, SEEK_END);
  return end >= 0 && ::ftruncate(fd, end - static_cast<off_t>(bytes)) == 0;
}

} // namespace

line_file::line_file(std::filesystem::path path, int fd)
  : path_(std::move(path)),
    fd_(fd) {
  // nop
}

line_file::line_file(line_file&& other) noexcept
  : path_(std::move(other.path_)),
    fd_(std::exchange(other.fd_, -1)),
    waiting_(std::exchange(other.waiting_, {})),
    dirty_(other.dirty_) {
  // nop
}

line_file::~line_file() {
  if (fd_ < 0)
    return;
  (void)flush({});
  ::close(fd_);
}

result<line_file> line_file::open(const std::filesystem::path& path) {
  const auto fd =
    ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0)
    return fail_errno(path, "open the file");
  line_file x{path, fd};
  const auto end = end_of_lines(fd, path);
  if (!end)
    return tl::make_unexpected(end.error());
  if (::ftruncate(fd, *end) != 0)
    return fail_errno(path, "cut half a line off its end");
  return x;
}

result<void> line_file::append(std::string_view line) {
  if (waiting_.size() >= written_at_once_bytes) {
    auto written = flush({});
    if (!written
        && waiting_.size() + line.size() >= limits::unwritten_bytes_max)
      return written;
  }
  waiting_.append(line).push_back('\n');
  return {};
}

std::uint64_t line_file::size() const {
  const auto end = ::lseek(fd_, 0, SEEK_END);
  return end < 0 ? 0 : static_cast<std::uint64_t>(end);
}

result<void> line_file::cut(std::uint64_t bytes) {
  waiting_.clear();
  if (size() < bytes)
    return fail(errc::storage_failure,
                path_.string() + ": has " + std::to_string(size())
                  + " bytes, and the snapshot is of when it had "
                  + std::to_string(bytes) + "; " + instead);
  if (bytes < size() && ::ftruncate(fd_, static_cast<off_t>(bytes)) != 0)
    return fail_errno(path_, "cut the file back to its snapshot");
  return {};
}

result<void> line_file::flush(const flush_options& opts) {
  std::size_t done = 0;
  while (done < waiting_.size()) {
    const auto n = ::write(fd_, waiting_.data() + done, waiting_.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      auto failure = fail_errno(path_, "write the file");
      // Else who notes the file's size would note what opening it cuts off.
      if (const auto half = half_line_of({waiting_.data(), done});
          half > 0 && take_back(fd_, half))
        done -= half;
      waiting_.erase(0, done);
      return failure;
    }
    done += static_cast<std::size_t>(n);
    dirty_ = true;
  }
  waiting_.clear();
  if (opts.sync && dirty_) {
    if (::fdatasync(fd_) != 0)
      return fail_errno(path_, "sync the file");
    dirty_ = false;
  }
  return {};
}

} // namespace troupe::actors
