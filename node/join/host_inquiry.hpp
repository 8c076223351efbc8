#pragma once

// Asks this machine for a host on a thread of its own. Who resolves names may
// take many seconds, in which nothing ends it: nobody waits for that thread.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "node/join/farewells.hpp"

namespace troupe::node {

class host_inquiry {
public:
  using resolver = std::function<std::string(const std::string& address)>;

  explicit host_inquiry(const std::string& address,
                        resolver ask = unknown_host);

  /// As `unknown_host` has it; empty also where nobody can be asked. Nothing:
  /// it is not known yet.
  std::optional<std::string> answer() const;

  /// The same, by then. Nothing also where it was told to stop before.
  std::optional<std::string> answer_within(std::chrono::milliseconds most,
                                           const std::atomic<bool>* stop) const;

private:
  struct shared {
    std::mutex mutex;
    std::optional<std::string> answer;
  };

  std::shared_ptr<shared> known_ = std::make_shared<shared>();
};

} // namespace troupe::node
