#pragma once

// A thread that looks at a run twice a second, and tells others what it saw:
// on a board in this process, in status.json in the run's folder, and aloud if
// the run does not get on.

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "actors/gateway/traffic.hpp"
#include "node/config/experiment.hpp"
#include "node/watch/board.hpp"
#include "node/watch/chronicle.hpp"
#include "node/watch/last_answers.hpp"
#include "node/watch/outlay.hpp"
#include "node/watch/status_file.hpp"
#include "node/watch/wait_remarks.hpp"

namespace troupe::node {

class monitor {
public:
  struct options {
    const experiment& x;
    std::shared_ptr<const models::layout> blocks;
    std::shared_ptr<const chronicle> watching;
    std::shared_ptr<const actors::traffic> counted;
    std::filesystem::path folder;
    std::shared_ptr<status_board> board = {}; ///< May be null.
    std::string http = {}; ///< Where the board is read; empty: nowhere.
    std::function<void(const std::string& line)> say = {}; ///< May be empty.
    /// Where what stands at the end is kept. May be empty.
    std::function<void(const std::string& line)> log = {};
    /// Of a run that is served; else empty.
    std::function<actors::socket_status()> socket = {};
    std::chrono::milliseconds look_every{500};
    /// Where it asks the run.
    std::shared_ptr<status_desk> desk = std::make_shared<status_desk>();
  };

  explicit monitor(options opts);

  /// Looks a last time, and says what is wrong at the end.
  ~monitor();

  monitor(const monitor&) = delete;
  monitor& operator=(const monitor&) = delete;

  /// Where it asks the run.
  std::shared_ptr<status_desk> desk() const noexcept {
    return options_.desk;
  }

private:
  void work();
  void look();
  void hear(actors::seen_run& to);
  void measure(actors::seen_run& to);
  void remark(const actors::seen_run& x);
  void remark_routing(const actors::request_status& x);
  void remark_end() const;

  options options_;
  status_file file_;
  outlay own_;

  // Only of the thread that looks.
  last_answers answers_;
  std::int64_t answered_ms_ = 0;
  std::int64_t progress_ms_ = 0;
  std::uint64_t done_ = 0; ///< Visits and versions, when last looked at.
  std::uint64_t ledger_bytes_ = 0;
  std::uint64_t arrivals_bytes_ = 0;
  wait_remarks remarks_;
  std::string lost_; ///< Why no snapshot was kept, as it was told last.
  /// Alarms that stand, and were told: of which expert, and which.
  std::set<std::pair<line_id, std::string>> alarmed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::thread thread_;
};

} // namespace troupe::node
