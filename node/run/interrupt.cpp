#include "node/run/interrupt.hpp"

#include <csignal>
#include <string_view>

#include <unistd.h>

namespace troupe::node {

namespace {

std::atomic<bool> wanted{false};
std::atomic<int> first{0}; // Of the signals; 0: none came.
std::atomic<const char*> word{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);
static_assert(
  std::atomic<bool>::is_always_lock_free); // Safe in a signal handler.
static_assert(std::atomic<int>::is_always_lock_free);

void say(std::string_view text) {
  // Nothing can be done where it cannot be written.
  [[maybe_unused]] const auto written =
    write(STDERR_FILENO, text.data(), text.size());
}

void on_signal(int which) {
  if (int none = 0; !first.compare_exchange_strong(none, which)) {
    say("\nstopped at once\n");
    _exit(130);
  }
  wanted = true;
  say(word.load());
}

void handle(void (*how)(int)) {
  struct sigaction what {};
  what.sa_handler = how;
  sigemptyset(&what.sa_mask);
  sigaction(SIGINT, &what, nullptr);
  sigaction(SIGTERM, &what, nullptr);
}

} // namespace

interruption::interruption(const char* says) {
  wanted = false;
  first = 0;
  word = says;
  handle(on_signal);
}

interruption::~interruption() {
  handle(SIG_DFL);
}

const std::atomic<bool>& interruption::requested() const noexcept {
  return wanted;
}

bool interruption::is_dismissal() const noexcept {
  return first == SIGTERM;
}

} // namespace troupe::node
