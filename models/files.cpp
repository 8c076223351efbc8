#include "models/files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
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

/// A rename would take the place of a device or a pipe that others use.
result<void> refuse_strange(const std::filesystem::path& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode))
    return {};
  return fail(errc::storage_failure,
              path.string()
                + (S_ISDIR(about.st_mode)   ? ": is a folder"
                   : S_ISLNK(about.st_mode) ? ": is a link"
                                            : ": is not a regular file")
                + ", which is not replaced; another name would do");
}

/// The kernel's files say that they have no bytes, and have some.
result<std::vector<std::byte>> read_to_end(int fd,
                                           const std::filesystem::path& path,
                                           errc code, std::uint64_t bytes_max) {
  std::vector<std::byte> bytes;
  std::array<std::byte, 1 << 16> part{};
  for (;;) {
    const auto n = ::read(fd, part.data(), part.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail_errno(code, path, "read the file");
    if (n == 0)
      return bytes;
    bytes.insert(bytes.end(), part.begin(), part.begin() + n);
    if (bytes.size() > bytes_max)
      return fail(code, path.string() + ": has more than "
                          + std::to_string(bytes_max)
                          + " bytes, and no more are read");
  }
}

} // namespace

result<opened_file> open_file(const std::filesystem::path& path, errc code,
                              std::uint64_t bytes_max) {
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
  const auto bytes = static_cast<std::uint64_t>(about.st_size);
  if (bytes > bytes_max) {
    ::close(fd);
    return fail(code, path.string() + ": has " + std::to_string(bytes)
                        + " bytes, and at most " + std::to_string(bytes_max)
                        + " are read");
  }
  return opened_file{fd, bytes};
}

result<std::vector<std::byte>> read_file(const std::filesystem::path& path,
                                         errc code, std::uint64_t bytes_max) {
  auto opened = open_file(path, code, bytes_max);
  if (!opened)
    return tl::make_unexpected(opened.error());
  const descriptor fd{opened->fd};
  if (opened->bytes == 0)
    return read_to_end(fd.get(), path, code, bytes_max);
  std::vector<std::byte> bytes(static_cast<std::size_t>(opened->bytes));
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

result<std::string> read_text(const std::filesystem::path& path, errc code) {
  return read_file(path, code, limits::text_file_bytes_max)
    .map([](const std::vector<std::byte>& x) {
      return std::string(reinterpret_cast<const char*>(x.data()), x.size());
    });
}

result<line_reader> line_reader::open(const std::filesystem::path& path,
                                      errc code) {
  return open_file(path, code).map([](const opened_file& x) {
    return line_reader{x.fd, x.bytes};
  });
}

line_reader::line_reader(line_reader&& other) noexcept
  : fd_(std::exchange(other.fd_, -1)),
    bytes_(other.bytes_),
    line_(std::move(other.line_)),
    waiting_(std::move(other.waiting_)),
    given_(other.given_),
    cut_off_(other.cut_off_) {
  // nop
}

line_reader::~line_reader() {
  if (fd_ >= 0)
    ::close(fd_);
}

bool line_reader::next() {
  auto seen = given_;
  for (;;) {
    const auto end = waiting_.find('\n', seen);
    if (end != std::string::npos) {
      line_.assign(waiting_, given_, end - given_);
      given_ = end + 1;
      return true;
    }
    waiting_.erase(0, std::exchange(given_, 0));
    seen = waiting_.size();
    if (seen > limits::text_file_bytes_max || !fill()) {
      cut_off_ = seen > 0;
      return false;
    }
  }
}

bool line_reader::fill() {
  constexpr std::size_t at_once = std::size_t{1} << 16;
  const auto before = waiting_.size();
  waiting_.resize(before + at_once);
  ssize_t n = 0;
  do
    n = ::read(fd_, waiting_.data() + before, at_once);
  while (n < 0 && errno == EINTR);
  waiting_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return n > 0;
}

namespace {

/// Below that the page cache is no matter.
constexpr std::uint64_t around_cache_min = std::uint64_t{1} << 20;

/// Writes around the page cache where the system lets one: of what is synced at
/// once and not read soon, the copy into the cache costs more than all else.
class large_writer {
public:
  explicit large_writer(int fd) : fd_(fd), direct_(set_direct(true)) {
    // nop
  }

  bool write(std::span<const std::byte> x) {
    while (!x.empty()) {
      const auto some = std::min(x.size(), room_bytes - held_);
      std::memcpy(room_.get() + held_, x.data(), some);
      held_ += some;
      x = x.subspan(some);
      if (held_ == room_bytes && !flush())
        return false;
    }
    return true;
  }

  /// What is left is no whole number of sectors.
  bool finish() {
    if (std::exchange(direct_, false))
      (void)set_direct(false);
    return flush();
  }

private:
  static constexpr std::size_t room_bytes = std::size_t{1} << 20;
  static constexpr std::align_val_t sector{4096};

  struct returner {
    void operator()(std::byte* x) const noexcept {
      ::operator delete(x, sector);
    }
  };

  bool set_direct(bool on) const noexcept {
    const int flags = ::fcntl(fd_, F_GETFL);
    return flags >= 0
           && ::fcntl(fd_, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT)
                == 0;
  }

  bool flush() noexcept {
    std::span<const std::byte> left{room_.get(), std::exchange(held_, 0)};
    while (!left.empty()) {
      const auto n = ::write(fd_, left.data(), left.size());
      if (n >= 0)
        left = left.subspan(static_cast<std::size_t>(n));
      else if (errno == EINVAL && std::exchange(direct_, false)) {
        if (!set_direct(false)) // It may want larger sectors than ours.
          return false;
      } else if (errno != EINTR)
        return false;
    }
    return true;
  }

  int fd_;
  bool direct_;
  std::unique_ptr<std::byte, returner> room_{
    static_cast<std::byte*>(::operator new(room_bytes, sector))};
  std::size_t held_ = 0;
};

bool write_parts(int fd, std::span<const std::span<const std::byte>> parts,
                 const replace_options& opts) {
  std::uint64_t size = 0;
  for (const auto part : parts)
    size += part.size();
  if (!opts.sync || size < around_cache_min)
    return std::ranges::all_of(parts,
                               [fd](auto part) { return write_all(fd, part); });
  large_writer to{fd};
  return std::ranges::all_of(parts, [&](auto part) { return to.write(part); })
         && to.finish();
}

} // namespace

result<void> replace_file(const std::filesystem::path& path,
                          std::span<const std::span<const std::byte>> parts,
                          const replace_options& opts) {
  static std::atomic<unsigned> count{0};
  if (auto ok = refuse_strange(path); !ok)
    return ok;
  auto unfinished = path;
  unfinished += "." + std::to_string(::getpid()) + "-" + std::to_string(++count)
                + unfinished_suffix;
  const auto give_up = [&](const char* what) {
    auto failure = fail_errno(errc::storage_failure, path, what);
    ::unlink(unfinished.c_str());
    return failure;
  };
  descriptor fd{::open(unfinished.c_str(),
                       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                       opts.secret ? S_IRUSR | S_IWUSR : 0666)};
  if (fd.get() < 0)
    return fail_errno(errc::storage_failure, path, "create the file");
  if (!write_parts(fd.get(), parts, opts))
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

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

result<void> check_link(const std::filesystem::path& path) {
  std::error_code ignored;
  if (is_there(path) || !std::filesystem::is_symlink(path, ignored))
    return {};
  return fail_at(path.string(), "is a link to nothing that is there; one to "
                                "what it was to lead to would do");
}

tl::unexpected<error> fail_errno(errc code, const std::filesystem::path& path,
                                 const char* what) {
  const auto reason = std::error_code{errno, std::generic_category()}.message();
  return fail(code, path.string() + ": cannot " + what + ": " + reason);
}

tl::unexpected<error> fail_at(std::string_view origin,
                              const std::string& what) {
  return fail(errc::invalid_data, std::string{origin} + ": " + what);
}

void remove_unfinished(const std::filesystem::path& folder) {
  // The folder is read first: what an iterator sees while files go is not said.
  std::vector<std::filesystem::path> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator at{folder, failed}, end;
       !failed && at != end; at.increment(failed))
    if (is_unfinished(at->path()))
      found.push_back(at->path());
  for (const auto& path : found)
    std::filesystem::remove(path, failed);
}

} // namespace troupe::models
