#include "models/version_store.hpp"

#include <array>
#include <string>
#include <system_error>
#include <utility>

#include "models/files.hpp"

namespace troupe::models {

namespace {

namespace fs = std::filesystem;

tl::unexpected<error> fail_storing(const fs::path& path,
                                   const std::string& what) {
  return fail(errc::storage_failure, path.string() + ": " + what);
}

/// Whether this looks like the name that a digest gives to a file.
bool is_digest_name(const std::string& x) {
  return x.size()
           == 2
                * std::tuple_size_v<
                  digest> && x.find_first_not_of("0123456789abcdef") == x.npos;
}

} // namespace

version_store::version_store(fs::path folder, const version_store_options& opts)
  : folder_(std::move(folder)),
    opts_(opts) {
  // nop
}

result<version_store> version_store::open(const fs::path& folder,
                                          const version_store_options& opts) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code)
    return fail_storing(folder, "cannot make the folder: " + code.message());
  return version_store{folder, opts};
}

result<digest> version_store::put(std::span<const std::byte> bytes) {
  const auto name = digest_of(bytes);
  // What is there may be damaged: then it is written anew.
  if (contains(name) && get(name))
    return name;
  const std::array parts{bytes};
  if (auto ok = replace_file(path_of(name), parts, {.sync = opts_.sync}); !ok)
    return tl::unexpected{ok.error()};
  return name;
}

result<digest> version_store::put(std::span<const float> values) {
  return put(std::as_bytes(values));
}

result<std::vector<std::byte>> version_store::get(const digest& name) const {
  auto bytes = read_file(path_of(name), errc::storage_failure);
  if (bytes && digest_of(*bytes) != name)
    return fail_storing(
      path_of(name),
      "its content is not what its name says: the file is damaged; "
      "restore it from a copy, or resume from an earlier version");
  return bytes;
}

bool version_store::contains(const digest& name) const {
  std::error_code ignored;
  return fs::exists(path_of(name), ignored);
}

result<void> version_store::remove(const digest& name) {
  std::error_code code;
  std::filesystem::remove(path_of(name), code);
  if (code)
    return fail_storing(path_of(name),
                        "cannot remove the file: " + code.message());
  return {};
}

result<std::size_t> version_store::retain(const std::set<digest>& names) {
  std::set<std::string> kept;
  for (const auto& name : names)
    kept.insert(to_hex(name));
  // The folder is read first: what an iterator sees while files go is not said.
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator at{folder_, code}, end; !code && at != end;
       at.increment(code))
    found.push_back(at->path());
  if (code)
    return fail_storing(folder_, "cannot read the folder: " + code.message());
  std::size_t removed = 0;
  for (const auto& path : found) {
    const auto name = path.filename().string();
    const bool surplus = is_digest_name(name) && !kept.contains(name);
    if (!surplus && !is_unfinished(path))
      continue;
    fs::remove(path, code);
    if (code)
      return fail_storing(path, "cannot remove the file: " + code.message());
    ++removed;
  }
  return removed;
}

fs::path version_store::path_of(const digest& name) const {
  return folder_ / to_hex(name);
}

} // namespace troupe::models
