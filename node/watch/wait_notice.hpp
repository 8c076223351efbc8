#pragma once

// What people wait for where nothing shows its progress: data that are read,
// and known by their digests (a second or more for each GB), or a model that
// scores.

#include <condition_variable>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "core/clock.hpp"

namespace troupe::node {

/// Says now and then, on a thread of its own, what is being done and for how
/// long; of what is done before that nothing.
class wait_notice {
public:
  using teller = std::function<void(const std::string& line)>;

  wait_notice(std::string what, teller tell,
              instant every = std::chrono::seconds{2});

  /// Nothing more is said.
  ~wait_notice();

  wait_notice(const wait_notice&) = delete;
  wait_notice& operator=(const wait_notice&) = delete;

  /// From now on that is being done; seconds count from the beginning.
  void now(std::string what);

private:
  void watch(const teller& tell, instant every);

  std::mutex mutex_;
  std::string what_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::thread thread_; // The last: it uses the others.
};

/// What most commands begin with.
constexpr const char* reading_a_run = "reading what the run is made of";

/// Told what is being done; may be empty.
using stage_teller = std::function<void(std::string what)>;

/// To a stream, a line each.
wait_notice::teller lines_to(std::ostream& to);

/// What f(stage_teller) returns, while a stream is told what people wait for:
/// `what`, until f tells of something else.
template <class Function>
auto told_while(std::ostream& to, std::string what, Function f) {
  wait_notice waiting{std::move(what), lines_to(to)};
  return f([&](std::string x) { waiting.now(std::move(x)); });
}

} // namespace troupe::node
