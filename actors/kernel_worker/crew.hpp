#pragma once

// The workshops of production: plain threads, each with a trainer of its own,
// that touch no actor.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "actors/kernel_worker/workshop.hpp"
#include "actors/metrics/status.hpp"

namespace troupe::actors {

/// Threads that take tasks in the order in which they came. The queue holds at
/// most one task per client, since a client has one visit open at a time.
class crew {
public:
  using task = std::function<void(models::trainer&)>;

  using kind = workshop::kind;

  /// Starts `size` threads. Each makes its own trainer, before this returns.
  static result<std::unique_ptr<crew>>
  hire(std::size_t size, const models::trainer_factory& make);

  ~crew();

  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  /// @param of whose work it is, for those who watch, and which
  void add(task x, visit_id of = {}, kind what = kind::training);

  crew_status status() const;

  /// Ends the task under way on each thread where its trainer can, which is
  /// after one question of its visits, and forgets the others. Tasks speak to
  /// actors, so this comes before the end of their system.
  void dismiss();

private:
  crew() = default;

  struct entry {
    task what;
    visit_id of;
    kind is;
    instant added;
  };

  struct running {
    visit_id of;
    kind is;
    instant since;
  };

  void work(std::size_t place);
  void finished(std::size_t place);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<entry> tasks_;
  std::vector<std::optional<running>> under_way_; ///< By thread.
  duration_counts waits_;
  duration_counts works_;
  duration_counts choices_;
  bool closing_ = false;
  std::vector<std::unique_ptr<models::trainer>> trainers_;
  std::vector<std::jthread> threads_;
};

/// Wall clock: delivered on the worker's thread when it is done.
class prompt_workshop final : public workshop {
public:
  explicit prompt_workshop(std::shared_ptr<crew> workers)
    : workers_(std::move(workers)) {
    // nop
  }

  void submit(key when, work what, deliver to) override;

private:
  std::shared_ptr<crew> workers_;
};

/// Virtual clock: computed at once, delivered when the clock's loop says that
/// it is due, on the loop's thread. One thread calls all of this. A job of
/// which nobody wants to hear any more when it is due was computed all the
/// same, so no digest depends on when a thread came to it.
class due_workshop final : public workshop {
public:
  explicit due_workshop(std::shared_ptr<crew> workers)
    : workers_(std::move(workers)) {
    // nop
  }

  void submit(key when, work what, deliver to) override;

  /// Null if nothing is under way.
  const key* next() const;

  /// Waits for the least result and delivers it. @pre `next()` is not null
  void deliver_next();

private:
  struct entry {
    std::future<messages::job_finished> outcome;
    deliver to;
  };

  std::shared_ptr<crew> workers_;
  std::map<key, entry> under_way_;
};

/// Computed in the call and delivered at once: for work that is next to
/// nothing.
class inline_workshop final : public workshop {
public:
  explicit inline_workshop(std::unique_ptr<models::trainer> own)
    : own_(std::move(own)) {
    // nop
  }

  void submit(key, work what, deliver to) override {
    to(what(*own_));
  }

private:
  std::unique_ptr<models::trainer> own_;
};

} // namespace troupe::actors
