#pragma once

// How the visits of this process came out: the server hears that one failed,
// and no more, so why is said here.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "actors/kernel_worker/workshop.hpp"
#include "node/join/join.hpp"

namespace troupe::node {

/// Thread-safe.
class visit_counts {
public:
  /// @param say told of the first that failed, on any thread; may be empty
  explicit visit_counts(std::function<void(const std::string&)> say = {});

  void add(const messages::job_finished& x, actors::workshop::kind what);

  /// From here on nothing counts any more: who is dismissed has not failed.
  void tell(join_summary& to);

private:
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::uint64_t trained_ = 0;
  std::uint64_t failed_ = 0;
  std::string why_; ///< Of the first that failed.
  bool over_ = false;
};

/// What another one computes, counted.
class counted_workshop final : public actors::workshop {
public:
  counted_workshop(std::shared_ptr<actors::workshop> behind,
                   std::shared_ptr<visit_counts> counts);

  void submit(key when, work what, deliver to) override;

private:
  std::shared_ptr<actors::workshop> behind_;
  std::shared_ptr<visit_counts> counts_;
};

} // namespace troupe::node
