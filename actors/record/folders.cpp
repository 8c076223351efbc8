#include "actors/record/folders.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

auto fail_at(const fs::path& path, const std::string& what) {
  return fail(errc::storage_failure, path.string() + ": " + what);
}

} // namespace

result<void> make_folder(const fs::path& x, const folder_options& how) {
  std::error_code code;
  const bool is_new = fs::create_directories(x, code);
  if (code)
    return fail_at(x, "cannot make the folder: " + code.message());
  if (!is_new || !how.sync)
    return {};
  auto done = sync_folder(x.parent_path());
  // Whoever tries again must not find it there, and take its name for safe.
  if (!done)
    fs::remove(x, code);
  return done;
}

result<void> sync_folder(const fs::path& x) {
  const auto fd = ::open(x.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT)
    return {};
  const bool done = fd >= 0 && ::fsync(fd) == 0;
  const auto why = std::error_code{errno, std::generic_category()}.message();
  if (fd >= 0)
    ::close(fd);
  return done ? result<void>{} : fail_at(x, "cannot be synced: " + why);
}

} // namespace troupe::actors
