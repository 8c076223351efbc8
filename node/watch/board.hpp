#pragma once

// Between a run and those who look at it: what they want to know goes one way,
// a snapshot comes back. Nobody waits for anybody.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "actors/kernel_worker/crew.hpp"
#include "actors/metrics/process_status.hpp"

namespace troupe::node {

/// The last status, for any number of readers.
template <class Status>
class board_of {
public:
  void publish(std::shared_ptr<const Status> x) {
    const std::lock_guard guard{mutex_};
    last_ = std::move(x);
  }

  /// Null before the run has begun.
  std::shared_ptr<const Status> last() const {
    const std::lock_guard guard{mutex_};
    return last_;
  }

private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Status> last_;
};

using status_board = board_of<actors::seen_run>;
using process_board = board_of<actors::process_status>;

/// Where a draft is asked for and filled. One side wants, the run's loop looks
/// here now and then: that costs it one load.
class status_desk {
public:
  using draft = std::shared_ptr<actors::status_draft>;

  /// Asks for a new draft, and returns the one that was asked for before, as
  /// far as it is filled; null: there is none.
  draft want() {
    const std::lock_guard guard{mutex_};
    wanted_ = true;
    return current_;
  }

  /// What the loop is to have filled now; null: nothing.
  draft asked() {
    if (!wanted_.load(std::memory_order_relaxed))
      return nullptr;
    const std::lock_guard guard{mutex_};
    wanted_ = false;
    current_ = std::make_shared<actors::status_draft>();
    return current_;
  }

  /// Whose load is part of the status, for as long as they live.
  void watch(const std::shared_ptr<actors::crew>& workers) {
    const std::lock_guard guard{mutex_};
    workers_ = workers;
  }

  actors::crew_status crew() const {
    const std::lock_guard guard{mutex_};
    const auto workers = workers_.lock();
    return workers ? workers->status() : actors::crew_status{};
  }

  /// What the whole run waits for, in the middle of something; empty: nothing.
  void hold(std::string obstacle) {
    const std::lock_guard guard{mutex_};
    obstacle_ = std::move(obstacle);
  }

  std::string obstacle() const {
    const std::lock_guard guard{mutex_};
    return obstacle_;
  }

  /// A snapshot was taken.
  void kept(double seconds) {
    const std::lock_guard guard{mutex_};
    checkpoints_.add(seconds);
    lost_.why.clear();
  }

  /// A snapshot was to be kept, and could not be.
  void not_kept(std::string why) {
    const std::lock_guard guard{mutex_};
    ++lost_.count;
    lost_.why = std::move(why);
  }

  /// An actor broke, or they could not be made: all are made anew, until
  /// `whole` is called. What goes wrong before that is no other cause.
  void broke(const std::string& why) {
    const std::lock_guard guard{mutex_};
    if (!broken_.empty())
      return;
    restarts_ += is_whole_;
    is_whole_ = false;
    broken_ = why.empty() ? "it did not say why" : why;
  }

  /// All actors are there.
  void whole() {
    const std::lock_guard guard{mutex_};
    is_whole_ = true;
    broken_.clear();
  }

  std::string broken() const {
    const std::lock_guard guard{mutex_};
    return broken_;
  }

  std::uint64_t restarts() const {
    const std::lock_guard guard{mutex_};
    return restarts_;
  }

  actors::lost_snapshots lost() const {
    const std::lock_guard guard{mutex_};
    return lost_;
  }

  actors::duration_sum checkpoints() const {
    const std::lock_guard guard{mutex_};
    return checkpoints_;
  }

private:
  std::atomic<bool> wanted_{false};
  mutable std::mutex mutex_;
  draft current_;
  std::weak_ptr<actors::crew> workers_;
  std::string obstacle_;
  actors::duration_sum checkpoints_;
  actors::lost_snapshots lost_;
  std::string broken_;    ///< Why actors are made anew; empty: they are there.
  bool is_whole_ = false; ///< They are there; before the first, no.
  std::uint64_t restarts_ = 0;
};

} // namespace troupe::node
