#include "actors/client_store/disk_vault.hpp"

#include <chrono>
#include <system_error>
#include <utility>

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds pause_after_refusal{1};
constexpr auto clients_lock = "clients.lock";

fs::path home_of(const fs::path& folder, const std::string& run) {
  return folder / ("run-" + run);
}

} // namespace

result<void>
disk_vault::wait_for(const fs::path& folder, const std::string& run,
                     const std::function<void(const std::string&)>& say) {
  const auto home = home_of(folder, run);
  std::error_code ignored;
  if (!fs::exists(home / clients_lock, ignored))
    return {};
  return folder_lock::wait_until_free(home, clients_lock, say);
}

result<void> disk_vault::remove(const fs::path& folder, const std::string& run,
                                const std::function<void()>& first) {
  const auto home = home_of(folder, run);
  const auto lock = folder_lock::take(home, clients_lock);
  if (!lock)
    return tl::make_unexpected(lock.error());
  first();
  std::error_code failed;
  fs::remove_all(home, failed);
  if (failed)
    return fail(errc::storage_failure,
                "cannot remove " + home.string() + ": " + failed.message());
  return {};
}

result<std::shared_ptr<disk_vault>>
disk_vault::open(const fs::path& folder, const std::string& run, options opts) {
  const auto home = home_of(folder, run);
  std::error_code failed;
  fs::create_directories(home, failed);
  if (failed)
    return fail(errc::storage_failure,
                "cannot make " + home.string() + ": " + failed.message());
  auto lock = folder_lock::take(home, clients_lock);
  if (!lock)
    return tl::make_unexpected(lock.error());
  auto table = client_table::open(home, run);
  if (!table)
    return tl::make_unexpected(table.error());
  std::shared_ptr<disk_vault> out{
    new disk_vault{std::move(*lock), std::move(*table), std::move(opts)}};
  auto found = out->table_->load();
  if (!found)
    return tl::make_unexpected(found.error());
  for (auto& [who, file] : *found)
    out->files_.emplace(who, std::move(file));
  out->thread_ = std::thread{[self = out.get()] { self->work(); }};
  return out;
}

disk_vault::disk_vault(folder_lock lock, std::unique_ptr<client_table> table,
                       options opts)
  : lock_(std::move(lock)),
    options_(std::move(opts)),
    table_(std::move(table)) {
  // nop
}

disk_vault::~disk_vault() {
  {
    const std::lock_guard guard{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

bool disk_vault::save(client_id who, const client_file& x,
                      std::function<void()> kept) {
  const std::lock_guard guard{mutex_};
  auto& wish = wishes_[who];
  wish.file = x;
  wish.kept.push_back(std::move(kept));
  files_[who] = x;
  changed_.notify_all();
  return false;
}

std::optional<client_file> disk_vault::load(client_id who) const {
  const std::lock_guard guard{mutex_};
  const auto found = files_.find(who);
  return found == files_.end() ? std::nullopt : std::optional{found->second};
}

std::map<client_id, state_ptr> disk_vault::states() const {
  const std::lock_guard guard{mutex_};
  std::map<client_id, state_ptr> out;
  for (const auto& [who, file] : files_)
    out.emplace(who, file.state);
  return out;
}

vault::standing disk_vault::seen() const {
  const std::lock_guard guard{mutex_};
  return seen_;
}

std::uint64_t disk_vault::bytes_written() const {
  const std::lock_guard guard{mutex_};
  return bytes_written_;
}

void disk_vault::work() {
  std::unique_lock guard{mutex_};
  for (;;) {
    changed_.wait(guard, [&] { return closing_ || !wishes_.empty(); });
    if (wishes_.empty())
      return;
    auto all = std::exchange(wishes_, {});
    guard.unlock();
    const auto began = steady_now();
    const auto done = store(all);
    const auto ended = steady_now();
    guard.lock();
    bytes_written_ = table_->bytes_written();
    if (done) {
      seen_.times.add(seconds(ended - began));
      seen_.waits = false;
      continue;
    }
    // What came meanwhile is newer.
    for (auto& [who, old] : all) {
      auto& wish = wishes_[who];
      if (wish.kept.empty())
        wish.file = std::move(old.file);
      wish.kept.insert(wish.kept.begin(),
                       std::make_move_iterator(old.kept.begin()),
                       std::make_move_iterator(old.kept.end()));
    }
    if (closing_)
      return;
    if (!std::exchange(seen_.waits, true) && options_.say) {
      guard.unlock();
      options_.say("clients wait until this can be stored: "
                   + done.error().context);
      guard.lock();
    }
    changed_.wait_for(guard, pause_after_refusal, [&] { return closing_; });
  }
}

result<void> disk_vault::store(const std::map<client_id, wish>& all) {
  std::map<client_id, const client_file*> files;
  for (const auto& [who, x] : all)
    files.emplace(who, &x.file);
  if (auto ok = table_->save(files); !ok)
    return ok;
  for (const auto& [who, x] : all)
    for (const auto& kept : x.kept)
      kept();
  return {};
}

} // namespace troupe::actors
