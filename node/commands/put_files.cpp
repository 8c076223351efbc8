#include "node/commands/put_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "core/text.hpp"
#include "models/file_digest.hpp"
#include "models/files.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

using maker = std::function<result<void>(const fs::path&)>;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& x : fs::directory_iterator{folder, ignored})
    names.push_back(x.path().filename().string());
  std::ranges::sort(names);
  return names;
}

constexpr std::string_view workshop_name = ".export.";

/// Of the name of a workshop; ours, too, may be that of one of before.
bool is_nobodys(std::string_view number) {
  pid_t id = 0;
  const auto* end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, id);
  return read.ec == std::errc{} && read.ptr == end && id > 0
         && (id == getpid() || (kill(id, 0) != 0 && errno == ESRCH));
}

/// Removes what was left by processes that were killed over it.
void sweep(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& name : names_in(folder))
    if (name.starts_with(workshop_name)
        && is_nobodys(std::string_view{name}.substr(workshop_name.size())))
      fs::remove_all(folder / name, ignored);
}

/// A folder beside what is to be put, which nobody looks into, and which is
/// gone at the end.
class workshop {
public:
  static result<workshop> open(const fs::path& in) {
    sweep(in);
    auto path = in / (std::string{workshop_name} + std::to_string(getpid()));
    std::error_code why;
    fs::create_directory(path, why);
    if (why)
      return fail(errc::storage_failure,
                  path.string() + ": cannot be made: " + why.message());
    return workshop{std::move(path)};
  }

  workshop(workshop&& other) noexcept
    : path_(std::exchange(other.path_, fs::path{})) {
    // nop
  }

  workshop& operator=(workshop&&) = delete;

  ~workshop() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }

  const fs::path& path() const noexcept {
    return path_;
  }

private:
  explicit workshop(fs::path path) : path_(std::move(path)) {
    // nop
  }

  fs::path path_;
};

/// Of another model, or of no model at all: others would read both as one.
result<void> refuse_strangers(const fs::path& folder,
                              const std::set<std::string>& names) {
  for (const auto& name : names_in(folder))
    if (!names.contains(name))
      return fail(errc::storage_failure,
                  folder.string() + " has " + in_quotes(name)
                    + " in it, which is no part of the model; an empty folder "
                      "would do");
  return {};
}

/// Files that are there already are taken out of those that are made.
result<void> leave_out_same(const fs::path& made, const fs::path& to) {
  for (const auto& name : names_in(made)) {
    if (!models::is_there(to / name))
      continue;
    const auto ours =
      models::digest_of_file(made / name, errc::storage_failure);
    const auto theirs =
      models::digest_of_file(to / name, errc::storage_failure);
    if (!ours || !theirs)
      return tl::make_unexpected(ours ? theirs.error() : ours.error());
    if (*ours != *theirs)
      return fail(errc::storage_failure,
                  (to / name).string()
                    + " is there and is another; a place without would do");
    std::error_code ignored;
    fs::remove(made / name, ignored);
  }
  return {};
}

result<void> move_all(const fs::path& made, const fs::path& to) {
  constexpr const char* last = "config.json";
  auto names = names_in(made);
  std::stable_partition(names.begin(), names.end(),
                        [&](const auto& x) { return x != last; });
  for (const auto& name : names) {
    std::error_code why;
    fs::rename(made / name, to / name, why);
    if (why)
      return fail(errc::storage_failure,
                  (to / name).string()
                    + ": cannot be written: " + why.message());
  }
  return {};
}

/// @pre the folder is there
result<void> put_into(const fs::path& folder, const maker& make) {
  const auto place = workshop::open(folder);
  if (!place)
    return tl::make_unexpected(place.error());
  const auto& made = place->path();
  return make(made)
    .and_then([&] { return leave_out_same(made, folder); })
    .and_then([&] { return move_all(made, folder); });
}

} // namespace

result<void> put_file(const fs::path& to, const models::tensor_file& what) {
  std::error_code ignored;
  if (!fs::is_regular_file(to, ignored)) // Who writes says what else it is.
    return models::write_safetensors(to, what);
  const auto folder = to.has_parent_path() ? to.parent_path() : fs::path{"."};
  return put_into(folder, [&](const fs::path& made) {
    return models::write_safetensors(made / to.filename(), what);
  });
}

result<void> put_folder(const fs::path& to, const std::set<std::string>& names,
                        const maker& make) {
  sweep(to);
  if (auto ok = refuse_strangers(to, names); !ok)
    return ok;
  std::error_code why;
  const bool is_new = fs::create_directories(to, why);
  if (why)
    return fail(errc::storage_failure,
                to.string() + ": cannot make the folder: " + why.message());
  auto done = put_into(to, make);
  if (!done && is_new)
    fs::remove(to, why);
  return done;
}

} // namespace troupe::node
