#pragma once

// A run's folder on disk. docs/run_folder.md says what is in it.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "actors/record/line_file.hpp"
#include "actors/record/store.hpp"
#include "core/result.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// Makes `<parent>/<time>-<name>`, with a number behind it if that is there
/// already.
[[nodiscard]] result<std::filesystem::path>
make_dated_folder(const std::filesystem::path& parent, const std::string& name);

/// How the run of a folder came to its end; nothing: it goes on, as one that
/// was interrupted does, or it is no run's.
std::optional<std::string> end_of(const std::filesystem::path& folder);

class run_folder {
public:
  /// Makes `<x.folder>/<time>-<x.name>` with config.toml in it. Two runs that
  /// begin in the same second get different folders.
  [[nodiscard]] static result<run_folder> make(const experiment& x);

  /// Opens the folder of a run, unless it has come to its end or began as
  /// another.
  [[nodiscard]] static result<run_folder>
  open(const std::filesystem::path& path, const experiment& x);

  struct resuming {
    bool is_served = false;
  };

  /// Refuses a run that kept nothing to go on from, or whose clients a process
  /// that does not serve it would not find.
  [[nodiscard]] result<void> check_resumable(const experiment& x,
                                             const resuming& how) const;

  /// Removes what says how the run ended: it goes on.
  void forget_end();

  /// Removes all but the configuration and the log: as if nothing had happened.
  [[nodiscard]] result<void> begin_again();

  /// Bytes in events.jsonl, as far as they are written.
  std::uint64_t events_size() const;

  /// Bytes in metrics.jsonl.
  std::uint64_t metrics_size() const;

  /// Removes what processes that died were about to put in the place of a file.
  /// Versions and offers that wait are tidied where they are read. @pre the
  /// store is open, so that nobody else works in the folder
  void tidy() const;

  /// Forgets the metrics after so many bytes. Returns `storage_failure` if
  /// there are fewer.
  [[nodiscard]] result<void> cut_metrics(std::uint64_t bytes);

  const std::filesystem::path& path() const noexcept {
    return path_;
  }

  /// Appends to metrics.jsonl, where others can read it, and whoever goes on
  /// with the run when this process is killed. On a full disk lines wait for
  /// room; how many found none to wait in the log says when there is. @pre the
  /// store is open, so that nobody else works in the folder
  void metric(const std::string& line);

  /// Appends to logs/run.log.
  void log(const std::string& line);

  /// Logs why a process does not serve it any more, and adds what would do.
  error given_up(const error& why) {
    log(why.context);
    return {why.code, why.context + "; once that is mended, troupe serve "
                        + path_.string() + " goes on"};
  }

  struct store_options {
    std::uint64_t versions_kept = 0; ///< Of each line, at most.
    bool serves = false;             ///< Clients outlive this process.
  };

  /// The record of versions and visits that the configuration asks for.
  [[nodiscard]] result<std::unique_ptr<actors::store>>
  open_store(const experiment& x, const store_options& opts) const;

  [[nodiscard]] result<void> save_text(const std::string& name,
                                       const std::string& text) const;

private:
  explicit run_folder(std::filesystem::path path);

  std::filesystem::path path_;
  std::unique_ptr<actors::line_file> metrics_; ///< From its first line on.
  std::uint64_t metrics_lost_ = 0;             ///< Lines that no log has yet.
  std::unique_ptr<std::ofstream> log_;
  std::unique_ptr<std::mutex> logs_; ///< Whoever logs, on any thread.
};

} // namespace troupe::node
