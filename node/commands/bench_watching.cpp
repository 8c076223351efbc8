#include "node/commands/bench_watching.hpp"

// One run, in which looking is switched off, on, on and off again, a second
// each: both sides have the same heap, threads and place in memory, and what
// grows or shrinks steadily is in both. How fast a processor is differs by more
// from second to second than what looking costs: so it is looked and scraped as
// often as eight would, and an eighth of what that adds is what one does.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

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
constexpr const char* length = "time_budget=600"; // It is stopped before.
constexpr int fours = 3;                          // Of a repetition.
constexpr int watchers = 8;
constexpr std::chrono::milliseconds look_every{500 / watchers};

constexpr std::chrono::milliseconds ignored{500}; // A run's begin.
/// From when looking is switched on: a window begins; it is scraped; it ends.
constexpr std::chrono::milliseconds begins_after{100};
constexpr std::chrono::milliseconds scraped_after{600};
constexpr std::chrono::milliseconds ends_after{1100};

/// Asks for metrics, as Prometheus does. Whether the answer was whole.
bool scraped(const std::string& address) {
  constexpr std::string_view question =
    "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const http::descriptor to{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(
    std::stoul(address.substr(address.rfind(':') + 1))));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(to.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0
      || send(to.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0)
    return false;
  std::string heard;
  std::array<char, 16384> part{};
  for (ssize_t n = 0; (n = recv(to.get(), part.data(), part.size(), 0)) > 0;)
    heard.append(part.data(), static_cast<std::size_t>(n));
  return heard.starts_with("HTTP/1.1 200")
         && heard.find("troupe_visits_total") != std::string::npos;
}

/// All that `--http` brings, and as many servers as there are watchers: each
/// makes its own page, where one would have given the last one again.
class lookout {
public:
  lookout(const federation& f, const fs::path& folder)
    : outlook_({.x = f.x,
                .blocks = f.work.blocks,
                .watching = f.watching,
                .counted = f.counted,
                .folder = folder,
                .board = board_,
                .look_every = look_every,
                .desk = f.desk}) {
    // nop
  }

  result<void> open() {
    for (int i = 0; i < watchers; ++i) {
      const auto readers = std::make_shared<http::tally>();
      auto door = http::server::open("127.0.0.1:0", pages_of(board_, readers),
                                     {.counted = readers});
      if (!door)
        return tl::make_unexpected(door.error());
      doors_.push_back(std::move(*door));
    }
    return {};
  }

  bool is_scraped() const {
    return std::ranges::all_of(
      doors_, [](const auto& x) { return scraped(x->address()); });
  }

private:
  std::shared_ptr<status_board> board_ = std::make_shared<status_board>();
  std::vector<std::unique_ptr<http::server>> doors_;
  monitor outlook_;
};

/// What some windows of a run cost.
struct toll {
  double cpu_seconds = 0;
  double visits = 0;

  void add(const toll& from, const toll& to) {
    cpu_seconds += to.cpu_seconds - from.cpu_seconds;
    visits += to.visits - from.visits;
  }
};

/// Of a run until now, without the thread that calls: it makes and ends what
/// looks, and scrapes, which is another program's where a run is watched.
toll toll_of(const federation& f) {
  return {.cpu_seconds = seconds(process_cpu_time() - thread_cpu_time()),
          .visits = static_cast<double>(f.watching->report().visits)};
}

/// Adds a window of a run that goes on.
result<void> pass(const federation& f, const fs::path& folder, bool is_watched,
                  toll& to) {
  const auto wait_until = [begin = steady_now()](instant after) {
    std::this_thread::sleep_for(begin + after - steady_now());
  };
  std::optional<lookout> looks;
  if (is_watched)
    if (auto ok = looks.emplace(f, folder).open(); !ok)
      return ok;
  wait_until(begins_after);
  const auto before = toll_of(f);
  wait_until(scraped_after);
  if (looks && !looks->is_scraped())
    return fail(errc::invalid_config, "a scrape had no whole answer");
  wait_until(ends_after);
  to.add(before, toll_of(f));
  return {};
}

/// The windows of a run that goes on.
result<sample> passed(const federation& f, const fs::path& folder,
                      bool is_first) {
  std::this_thread::sleep_for(ignored);
  toll on;
  toll off;
  // What the first run of a process finds cold is no matter of either side.
  for (int four = is_first ? -1 : 0; four < fours; ++four) {
    if (four == 0)
      on = off = {};
    for (const bool is_watched : {false, true, true, false})
      if (auto ok = pass(f, folder, is_watched, is_watched ? on : off); !ok)
        return tl::make_unexpected(ok.error());
  }
  if (f.watching->over() || on.visits == 0 || off.visits == 0)
    return fail(errc::invalid_config, "an idle run had no visits");
  const auto alone = off.cpu_seconds / off.visits;
  const auto watched = on.cpu_seconds / on.visits;
  return sample{alone + (watched - alone) / watchers, alone};
}

/// CPU of a visit, in windows in which somebody looks and in the others.
result<sample> watching(const fs::path& folder, bool is_first) {
  const auto x = idle_experiment({"events=false", length});
  if (!x)
    return tl::make_unexpected(x.error());
  const auto work = idle_workload_of(*x);
  std::atomic<bool> stop{false};
  const federation f{.x = *x,
                     .work = work,
                     .books = actors::make_memory_store({}),
                     .watching = quiet_chronicle(*x, work),
                     .counted = std::make_shared<actors::traffic>(),
                     .stop = &stop,
                     .inline_work = true,
                     .desk = std::make_shared<status_desk>()};
  result<run_cost> ran;
  std::thread runs{[&] { ran = measure(f); }};
  auto found = passed(f, folder, is_first);
  stop = true;
  runs.join();
  if (!ran)
    return tl::make_unexpected(ran.error());
  return found;
}

/// Where the run's metrics would be, for as long.
result<sample> watching_in_a_folder(bool is_first) {
  const auto folder =
    fs::temp_directory_path() / ("troupe-bench-" + std::to_string(getpid()));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    return fail(errc::storage_failure,
                "cannot make " + folder.string() + ": " + failed.message());
  const auto found = watching(folder, is_first);
  fs::remove_all(folder, failed);
  return found;
}

} // namespace

figure watching_figure() {
  return {.name = "watching",
          .unit = "ms",
          .compared_with = "the same run while nobody looks",
          .bar = most,
          .repetitions = 9,
          .by_median = true,
          .once = [is_first = true]() mutable {
            return watching_in_a_folder(std::exchange(is_first, false));
          }};
}

} // namespace troupe::node
