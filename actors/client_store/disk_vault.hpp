#pragma once

// What the clients of a joining process keep on disk: docs/client_store.md. One
// thread writes; clients that keep something at the same time share a sync.

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "actors/client/client_file.hpp"
#include "actors/client_store/client_table.hpp"
#include "actors/record/folder_lock.hpp"

namespace troupe::actors {

class disk_vault final : public vault {
public:
  struct options {
    /// For people: what the disk refuses. Called on the writing thread.
    std::function<void(const std::string&)> say = {};
  };

  /// Until no process has these clients, as one that was killed a moment ago
  /// may, or for five seconds.
  /// @param say told once who is waited for; may be empty
  [[nodiscard]] static result<void>
  wait_for(const std::filesystem::path& folder, const std::string& run,
           const std::function<void(const std::string&)>& say);

  /// Removes the clients of a run. Fails where a process has them.
  /// @param first called before that, while no other process can have them
  [[nodiscard]] static result<void> remove(const std::filesystem::path& folder,
                                           const std::string& run,
                                           const std::function<void()>& first);

  /// The clients of one run, in a folder of its own within `folder`.
  [[nodiscard]] static result<std::shared_ptr<disk_vault>>
  open(const std::filesystem::path& folder, const std::string& run,
       options opts);

  /// What was to be kept is kept before it ends, unless the disk refuses.
  ~disk_vault() override;

  disk_vault(const disk_vault&) = delete;
  disk_vault& operator=(const disk_vault&) = delete;

  bool save(client_id who, const client_file& x,
            std::function<void()> kept) override;
  std::optional<client_file> load(client_id who) const override;
  std::map<client_id, state_ptr> states() const override;
  standing seen() const override;

  /// Bytes that went to the disk, beside what SQLite adds.
  std::uint64_t bytes_written() const;

private:
  struct wish {
    client_file file;
    std::vector<std::function<void()>> kept;
  };

  disk_vault(folder_lock lock, std::unique_ptr<client_table> table,
             options opts);

  void work();
  result<void> store(const std::map<client_id, wish>& all);

  folder_lock lock_;
  options options_;

  std::unique_ptr<client_table> table_; ///< Of the thread, once it is there.

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<client_id, wish> wishes_;
  std::map<client_id, client_file> files_;
  std::uint64_t bytes_written_ = 0;
  standing seen_;
  bool closing_ = false;
  std::thread thread_;
};

} // namespace troupe::actors
