#pragma once

// How the owner of a run's folder speaks with the process that serves it: a
// Unix socket in the folder, one line each way.
//
//   stop ──►
//        ◄── stopping          at once
//        ◄── ended REASON      when all is written
//   rotate MILLISECONDS ──►
//        ◄── rotated, or why not

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/result.hpp"

namespace troupe::node {

class control {
public:
  /// Changes the key of tickets; the one before is good for so long. Called on
  /// a thread of its own.
  using rotation = std::function<result<void>(std::int64_t for_ms)>;

  /// @pre the folder is this process's alone
  [[nodiscard]] static result<std::unique_ptr<control>>
  open(const std::filesystem::path& folder, rotation rotate = {});

  ~control();

  control(const control&) = delete;
  control& operator=(const control&) = delete;

  /// Somebody wants the run to end in order.
  const std::atomic<bool>& stop_wanted() const noexcept {
    return stop_wanted_;
  }

  /// The run has ended so; those who asked hear it with the end of this, when
  /// all is written.
  void ended(const std::string& reason);

private:
  control(int folder, int listener, int bell, rotation rotate);

  void work();
  void answer(int who);
  std::string rotate(const std::string& line) const;

  int folder_;
  int listener_;
  int bell_;
  rotation rotate_;
  std::atomic<bool> stop_wanted_{false};
  std::atomic<bool> closing_{false};
  std::mutex mutex_;
  std::vector<int> asked_; ///< They wait for the end.
  std::string end_;        ///< Empty: it has not come.
  std::thread thread_;
};

/// How asking for the end went.
struct stop_answer {
  bool reached = false; ///< Somebody serves this folder.
  bool ended = false;   ///< And said how the run has ended.
  std::string text = {};
};

/// Asks whoever serves the folder to end its run in order, and waits for that.
/// @param asked called before the wait, where somebody does; may be empty
[[nodiscard]] stop_answer ask_to_stop(const std::filesystem::path& folder,
                                      const std::function<void()>& asked = {});

/// Asks whoever serves the folder to change its tickets' key. Nothing: nobody
/// does; else why it was not changed, if it was not.
[[nodiscard]] std::optional<std::string>
ask_to_rotate(const std::filesystem::path& folder, std::int64_t for_ms);

} // namespace troupe::node
