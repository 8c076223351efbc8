#include "node/commands/bench_watching.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "actors/record/store.hpp"
#include "core/clock.hpp"
#include "node/commands/idle_workload.hpp"
#include "node/commands/measured_run.hpp"
#include "node/watch/http/listener.hpp"
#include "node/watch/http/server.hpp"
#include "node/watch/monitor.hpp"
#include "node/watch/pages.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

constexpr double most = 1.02;
constexpr const char* length = "time_budget=3"; // Of each run, in seconds.

// So that three seconds have three of them.
constexpr std::chrono::milliseconds first_scrape_after{500};
constexpr std::chrono::seconds scrape_every{1};

/// Asks for metrics on a thread of its own, as Prometheus does, and reads them.
class scraper {
public:
  struct summary {
    std::uint64_t asked = 0;
    std::uint64_t answered = 0;
    double cpu_seconds = 0; ///< Of its thread.
  };

  /// @param address of this machine, with a port
  explicit scraper(const std::string& address)
    : port_(static_cast<std::uint16_t>(
      std::stoul(address.substr(address.rfind(':') + 1)))),
      thread_([this] { work(); }) {
    // nop
  }

  scraper(const scraper&) = delete;
  scraper& operator=(const scraper&) = delete;

  ~scraper() {
    end();
  }

  /// Asks no more.
  summary end() {
    {
      const std::lock_guard guard{mutex_};
      closing_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
      thread_.join();
    return done_;
  }

private:
  void work() {
    std::unique_lock guard{mutex_};
    std::chrono::milliseconds pause = first_scrape_after;
    while (!changed_.wait_for(guard, pause, [this] { return closing_; })) {
      guard.unlock();
      const bool answered = ask();
      guard.lock();
      ++done_.asked;
      done_.answered += answered ? 1 : 0;
      pause = scrape_every;
    }
    done_.cpu_seconds = seconds(thread_cpu_time());
  }

  bool ask() const {
    constexpr std::string_view question =
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const http::descriptor to{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port_);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(to.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at)
          != 0
        || send(to.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0)
      return false;
    std::string heard;
    std::array<char, 16384> part{};
    for (ssize_t n = 0; (n = recv(to.get(), part.data(), part.size(), 0)) > 0;)
      heard.append(part.data(), static_cast<std::size_t>(n));
    return heard.starts_with("HTTP/1.1 200")
           && heard.find("troupe_visits_total") != std::string::npos;
  }

  std::uint16_t port_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  summary done_;
  std::thread thread_; ///< Last: it uses all of the above.
};

/// The same run, with all that `--http` brings and somebody who asks there. Who
/// asks is another program where a run is watched: its thread is not counted.
result<run_cost> watched(const federation& alone, const fs::path& folder) {
  const auto board = std::make_shared<status_board>();
  const auto readers = std::make_shared<http::tally>();
  const auto door = http::server::open("127.0.0.1:0", pages_of(board, readers),
                                       {.counted = readers});
  if (!door)
    return tl::make_unexpected(door.error());
  const monitor outlook{{.x = alone.x,
                         .blocks = alone.work.blocks,
                         .watching = alone.watching,
                         .counted = alone.counted,
                         .folder = folder,
                         .board = board,
                         .http = (*door)->address()}};
  auto f = alone;
  f.desk = outlook.desk();
  scraper asks{(*door)->address()};
  auto cost = measure(f);
  const auto done = asks.end();
  if (!cost)
    return cost;
  if (done.asked == 0 || done.answered < done.asked)
    return fail(errc::invalid_config,
                "of " + std::to_string(done.asked) + " scrapes "
                  + std::to_string(done.answered) + " were answered");
  cost->cpu_seconds -= done.cpu_seconds;
  return cost;
}

/// CPU of a visit.
result<double> visited(bool is_watched, const fs::path& folder) {
  const auto x = idle_experiment({"events=false", length});
  if (!x)
    return tl::make_unexpected(x.error());
  const auto work = idle_workload_of(*x);
  const federation f{.x = *x,
                     .work = work,
                     .books = actors::make_memory_store({}),
                     .watching = quiet_chronicle(*x, work),
                     .counted = std::make_shared<actors::traffic>(),
                     .inline_work = true};
  const auto cost = is_watched ? watched(f, folder) : measure(f);
  if (!cost)
    return tl::make_unexpected(cost.error());
  if (cost->visits == 0)
    return fail(errc::invalid_config, "an idle run had no visits");
  return cost->cpu_seconds / static_cast<double>(cost->visits);
}

/// A run alone, two that are watched, and one alone: what a run costs more for
/// being later than another is in both sums, and so is what grows or shrinks
/// steadily meanwhile.
result<sample> watching(const fs::path& folder) {
  sample out;
  for (const bool is_watched : {false, true, true, false}) {
    const auto found = visited(is_watched, folder);
    if (!found)
      return tl::make_unexpected(found.error());
    (is_watched ? out.seconds : out.compared) += *found / 2;
  }
  return out;
}

/// Where the watched run's metrics would be, for as long.
result<sample> watching_in_a_folder(bool is_first) {
  const auto folder =
    fs::temp_directory_path() / ("troupe-bench-" + std::to_string(getpid()));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    return fail(errc::storage_failure,
                "cannot make " + folder.string() + ": " + failed.message());
  // What the first run of a process finds cold is no matter of either side.
  const auto warm = is_first ? visited(true, folder) : result<double>{0};
  const auto found = warm.and_then([&](double) { return watching(folder); });
  fs::remove_all(folder, failed);
  return found;
}

} // namespace

figure watching_figure() {
  return {.name = "watching",
          .unit = "ms",
          .compared_with = "a run at which nobody looks",
          .bar = most,
          .repetitions = 9,
          .by_median = true,
          .once = [is_first = true]() mutable {
            return watching_in_a_folder(std::exchange(is_first, false));
          }};
}

} // namespace troupe::node
