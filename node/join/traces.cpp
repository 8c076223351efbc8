#include "node/join/traces.hpp"

#include <algorithm>
#include <system_error>

#include "actors/client_store/disk_vault.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

std::string folder_of(const std::string& run) {
  return "run-" + run;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> out;
  std::error_code ignored;
  for (const auto& x : fs::directory_iterator{folder, ignored})
    out.insert(x.path().filename().string());
  return out;
}

} // namespace

traces::traces(const fs::path& store) {
  std::error_code failed;
  if (store.empty())
    return;
  // Absolute, so that it has an end above.
  store_ = fs::absolute(store, failed);
  if (failed) {
    store_.clear();
    return;
  }
  if (!store_.has_filename())
    store_ = store_.parent_path();
  before_ = names_in(store_);
  for (auto x = store_; x.has_relative_path() && !fs::exists(x, failed);
       x = x.parent_path())
    folders_.push_back(x);
}

void traces::opens(const std::string& run) {
  std::error_code ignored;
  if (!store_.empty() && !fs::exists(store_ / folder_of(run), ignored))
    runs_.insert(run);
}

bool traces::is_ours(const std::string& name) const {
  return before_.contains(name) || !name.starts_with(folder_of(""))
         || runs_.contains(name.substr(folder_of("").size()));
}

void traces::remove() const {
  if (stay_ || store_.empty()
      || !std::ranges::all_of(
        names_in(store_), [this](const auto& name) { return is_ours(name); }))
    return;
  std::error_code ignored;
  const auto remove_files = [&] {
    for (const auto* name : {"id", "status.json", "frozen"})
      if (!before_.contains(name))
        fs::remove_all(store_ / name, ignored);
  };
  // The runs last: until then whoever waits for one has not begun there.
  for (const auto& run : runs_)
    if (fs::exists(store_ / folder_of(run), ignored)
        && !actors::disk_vault::remove(store_, run, remove_files))
      return;
  remove_files();
  for (const auto& folder : folders_)
    fs::remove(folder, ignored);
}

} // namespace troupe::node
