#include "node/join/lookout.hpp"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/clock.hpp"
#include "node/run/socket_view.hpp"
#include "node/watch/memory_taken.hpp"

namespace troupe::node {

namespace {

constexpr std::chrono::milliseconds look_every{500};

/// Nowhere without a store: such a process leaves nothing behind.
std::filesystem::path path_in(const std::string& store) {
  if (store.empty())
    return {};
  std::error_code failed; // Who needs the store says what is wrong with it.
  std::filesystem::create_directories(store, failed);
  return std::filesystem::path{store} / "status.json";
}

} // namespace

lookout::lookout(const join_context& in)
  : address_(in.address),
    http_(in.http),
    board_(in.board),
    file_(path_in(in.store)) {
  known_.address = in.address;
  known_.began_ms = unix_milliseconds();
  known_.changed_ms = known_.began_ms;
  look();
  thread_ = std::thread{[this] { work(); }};
}

lookout::~lookout() {
  {
    const std::lock_guard guard{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
  look();
}

void lookout::at(step x) {
  const std::lock_guard guard{mutex_};
  known_.at = x;
}

void lookout::watch(const std::shared_ptr<transport::socket_endpoint>& x) {
  const std::lock_guard guard{mutex_};
  socket_ = x;
}

void lookout::watch(const std::shared_ptr<actors::crew>& workers,
                    std::uint64_t clients) {
  const std::lock_guard guard{mutex_};
  workers_ = workers;
  known_.clients = clients;
}

void lookout::server_away(bool x) {
  const std::lock_guard guard{mutex_};
  known_.server_away = x;
}

void lookout::ended(const std::string& reason) {
  const std::lock_guard guard{mutex_};
  known_.over = true;
  known_.reason = reason;
}

void lookout::work() {
  std::unique_lock guard{mutex_};
  while (!changed_.wait_for(guard, look_every, [this] { return closing_; })) {
    guard.unlock();
    look();
    guard.lock();
  }
}

void lookout::look() {
  const auto x = std::make_shared<const actors::process_status>(seen());
  file_.write(facts_of(*x), http_);
  if (board_)
    board_->publish(x);
}

actors::process_status lookout::seen() {
  const std::lock_guard guard{mutex_};
  auto& x = known_;
  x.now_ms = unix_milliseconds();
  const auto link = connection_.now();
  x.connected = link.there;
  x.ever_connected = link.ever;
  if (link.changed_ms > 0)
    x.changed_ms = link.changed_ms;
  if (const auto socket = socket_.lock())
    x.socket = status_of_dialler(*socket);
  const auto done = x.crew.work.count;
  if (const auto workers = workers_.lock())
    x.crew = workers->status();
  if (x.crew.work.count != done)
    x.progress_ms = x.now_ms;
  x.cpu_seconds = seconds(process_cpu_time());
  x.memory_bytes = resident_bytes();
  return x;
}

} // namespace troupe::node
