#include "node/join/lookout.hpp"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/clock.hpp"
#include "node/run/socket_view.hpp"

namespace troupe::node {

namespace {

constexpr std::chrono::milliseconds look_every{500};

/// A server that is there has answered by then.
constexpr std::int64_t silence_ms = 3000;

/// People read of the work no oftener.
constexpr std::int64_t tell_every_ms = 10'000;

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
  : say_(in.say),
    address_(in.address),
    http_(in.http),
    board_(in.board),
    store_(in.store),
    made_(in.store),
    file_(path_in(in.store)),
    own_(store_),
    contact_(in.wait) {
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
  made_.remove();
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
  known_.results.clear(); // Of another run, if of any.
}

void lookout::watch(const std::shared_ptr<const actors::vault>& files) {
  const std::lock_guard guard{mutex_};
  files_ = files;
}

void lookout::watch_mail(mail_question ask) {
  const std::lock_guard guard{mutex_};
  ask_ = std::move(ask);
}

void lookout::figures(const std::map<std::string, double>& x) {
  const std::lock_guard guard{mutex_};
  known_.results = x;
}

std::map<std::string, double> lookout::figures() {
  const std::lock_guard guard{mutex_};
  return known_.results;
}

void lookout::server_away(bool x) {
  const std::lock_guard guard{mutex_};
  known_.server_away = x;
}

void lookout::ended(const join_summary& how) {
  const std::lock_guard guard{mutex_};
  known_.over = true;
  known_.reason = how.why;
  if (how.how == join_summary::end::interrupted)
    made_.stay();
}

void lookout::tell_news() {
  if (const auto x = news(); x && say_)
    say_(*x);
}

std::optional<std::string> lookout::news() {
  if (auto found = connection_.take_news())
    return found;
  const auto now = unix_milliseconds();
  if (auto found = news_of_silence(now))
    return found;
  return news_of_work(now);
}

std::optional<std::string> lookout::news_of_silence(std::int64_t now_ms) {
  if (told_of_silence_ || connection_.now().ever
      || now_ms - told_ms_ <= silence_ms)
    return std::nullopt;
  if (!host_)
    host_.emplace(address_);
  const auto unknown = host_->answer();
  if (!unknown)
    return std::nullopt;
  told_of_silence_ = true;
  return (unknown->empty() ? "nobody has answered at " + address_ + " yet"
                           : *unknown)
         + "; it is dialled until --wait is over";
}

std::optional<std::string> lookout::news_of_work(std::int64_t now_ms) {
  if (now_ms - told_ms_ < tell_every_ms)
    return std::nullopt;
  const std::lock_guard guard{mutex_};
  const auto workers = workers_.lock();
  const auto done = workers ? workers->status().work : duration_counts{};
  if (done.count == visits_told_)
    return std::nullopt;
  const auto more = done.count - visits_told_;
  visits_told_ = done.count;
  told_ms_ = now_ms;
  return std::to_string(done.count)
         + (done.count == 1 ? " visit is" : " visits are") + " trained here, "
         + std::to_string(more) + " of them since it was said last";
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
  const auto done = x.crew.work.count + x.crew.choices.count;
  if (const auto workers = workers_.lock())
    x.crew = workers->status();
  if (x.crew.work.count + x.crew.choices.count != done)
    x.progress_ms = x.now_ms;
  if (const auto files = files_.lock()) {
    const auto seen = files->seen();
    x.stored = seen.times;
    x.store_waits = seen.waits;
  }
  // What they said since they were asked last.
  const auto said = asked_->taken().mailboxes;
  if (const auto found = said.find("kernel_worker"); found != said.end())
    x.worker_mailbox = found->second;
  asked_ = std::make_shared<actors::status_draft>();
  if (ask_)
    ask_(asked_);
  if (own_.look())
    x.store_bytes = store_.empty() ? 0 : bytes_below(store_);
  x.own = own_.last();
  return x;
}

} // namespace troupe::node
