#include "node/keys/permit_cache.hpp"

#include "core/clock.hpp"
#include "core/limits.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {

result<permit> permit_cache::at(const std::filesystem::path& path) {
  struct stat x {};
  const bool is_there = ::stat(path.c_str(), &x) == 0;
  const how_it_lies lies{
    x.st_dev,          x.st_ino,         x.st_size,
    x.st_mode,         x.st_uid,         x.st_mtim.tv_sec,
    x.st_mtim.tv_nsec, x.st_ctim.tv_sec, x.st_ctim.tv_nsec};
  const std::lock_guard guard{mutex_};
  const auto found = all_.find(path.native());
  if (is_there && found != all_.end() && found->second.lay == lies)
    return found->second.said;
  if (found != all_.end())
    all_.erase(found);
  auto said = read_private(path).and_then(
    [](const std::string& text) { return read_permit(text); });
  if (said && is_there
      && unix_milliseconds() / 1000 > x.st_ctim.tv_sec + moment_) {
    if (all_.size() >= limits::keys_remembered)
      all_.clear();
    all_.emplace(path.native(), known{lies, *said});
  }
  return said;
}

} // namespace troupe::node
