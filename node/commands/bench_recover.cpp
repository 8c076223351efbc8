#include "node/commands/bench_recover.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/clock.hpp"
#include "core/json.hpp"
#include "models/files.hpp"
#include "node/commands/processes.hpp"
#include "node/config/config.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t visits_before = 100'000;
constexpr std::size_t recovering_clients =
  1000; ///< Of these, `callers` only say hello.
constexpr std::size_t callers = 30;
constexpr std::chrono::milliseconds recovery_glance{1};
constexpr std::chrono::seconds recovery_patience{60};
constexpr std::chrono::minutes patience_with_visits{5};

constexpr const char* text = R"(
clock = "wall"
evaluate_every = 0
updates = 1000000000
[clients]
clients = 1000
[pace]
mode = "fedbuff"
buffer_size = 50
concurrency = 200
[data]
kind = "quadratic"
[model]
kind = "quadratic"
)";

/// A folder of its own, gone with it.
class scratch {
public:
  scratch()
    : path_(fs::temp_directory_path()
            / ("troupe-recover-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }

  ~scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  const fs::path& path() const noexcept {
    return path_;
  }

private:
  fs::path path_;
};

/// This program once more, from its beginning.
std::function<result<void>()> program(std::vector<std::string> arguments) {
  return [arguments = std::move(arguments)]() -> result<void> {
    std::string self = "/proc/self/exe";
    std::vector<char*> words{self.data()};
    for (const auto& x : arguments)
      words.push_back(const_cast<char*>(x.c_str()));
    words.push_back(nullptr);
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      dup2(nowhere, fd);
    execv(words.front(), words.data());
    return fail(errc::invalid_config, "cannot begin this program again");
  };
}

bool until(const std::function<bool()>& what, instant most) {
  const auto end = steady_now() + most;
  while (!what()) {
    if (steady_now() > end)
      return false;
    std::this_thread::sleep_for(recovery_glance);
  }
  return true;
}

/// The one run's folder, once it has said where it listens.
std::optional<fs::path> run_in(const fs::path& runs) {
  std::error_code failed;
  for (fs::directory_iterator at{runs, failed}, end; !failed && at != end;
       at.increment(failed))
    if (fs::exists(at->path() / "endpoint", failed))
      return at->path();
  return std::nullopt;
}

std::string address_of_run(const fs::path& run) {
  std::ifstream in{run / "endpoint"};
  std::string out;
  in >> out;
  return out;
}

std::uint64_t visits_in(const fs::path& run) {
  const auto read =
    models::read_text(run / "status.json", errc::storage_failure);
  const auto root = json::parse(read.value_or(std::string{}));
  const auto* visits = root ? root->find("visits") : nullptr;
  return visits ? visits->count().value_or(0) : 0;
}

/// A client that was there before the server was killed, with a connection of
/// its own: it asks which client it is, and says hello when it knows, when it
/// meets another server, and when it is told to.
class caller {
public:
  caller(const std::string& address, std::uint8_t number,
         const models::digest& layout)
    : layout_(layout) {
    transport::socket_endpoint::options how;
    how.address = address;
    how.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 30; };
    how.instance = number;
    how.arrived = [this](const transport::frame_arrived& x) { heard(x); };
    how.met_again = [this](bool) { say_hello(); };
    auto made = transport::socket_endpoint::dial(std::move(how));
    if (!made)
      return;
    socket_ = std::move(*made);
    messages::places_asked who;
    who.store.fill(number);
    who.count = 1;
    socket_->send(process_itself, who);
  }

  ~caller() {
    if (socket_)
      socket_->close();
  }

  /// When it was last welcomed; zero: it was not.
  instant welcomed() const noexcept {
    return welcomed_;
  }

private:
  static constexpr peer_id process_itself{0};

  // On the socket's thread, as all that follows.
  void heard(const transport::frame_arrived& x) {
    const auto message = x.what.open();
    if (!message)
      return;
    if (const auto* given = std::get_if<messages::places_given>(message->get());
        given && !given->clients.empty()) {
      client_ = given->clients.front();
      say_hello();
    }
    if (const auto* bye = std::get_if<messages::farewell>(message->get());
        bye && bye->reason == messages::farewell_reason::no_session)
      say_hello();
    if (std::holds_alternative<messages::welcome>(**message))
      welcomed_ = steady_now();
  }

  void say_hello() {
    if (!client_)
      return;
    messages::hello x;
    x.client = *client_;
    x.incarnation = 1;
    x.layout = layout_;
    x.nonce = ++nonce_;
    x.examples = 1;
    socket_->send({client_->value}, std::move(x));
  }

  const models::digest layout_;
  std::optional<client_id> client_;
  std::uint64_t nonce_ = 0;
  std::atomic<instant> welcomed_{};
  std::shared_ptr<transport::socket_endpoint> socket_;
};

struct recovery {
  std::atomic<bool> all_here{false};
  std::atomic<double> killed{0}; ///< When, in seconds of this machine's clock.
  double first = 0;
  double last = 0;
};

/// Until all have been welcomed by the second server, or an error.
result<void> call(const std::string& address, recovery& board) {
  const auto loaded = parse_config({text, "bench"}, {});
  if (!loaded)
    return tl::make_unexpected(loaded.error());
  const auto work = prepare(loaded->x, model_maker{});
  if (!work)
    return tl::make_unexpected(work.error());
  std::array<std::unique_ptr<caller>, callers> all;
  for (std::size_t i = 0; i < callers; ++i)
    all[i] = std::make_unique<caller>(address, static_cast<std::uint8_t>(i + 1),
                                      work->blocks->fingerprint());
  const auto welcomed_since = [&](instant since) {
    return std::ranges::all_of(
      all, [&](const auto& x) { return x->welcomed() > since; });
  };
  if (!until([&] { return welcomed_since({}); }, recovery_patience))
    return fail(errc::invalid_config, "not all clients were welcomed");
  board.all_here = true;
  if (!until([&] { return board.killed > 0; }, recovery_patience))
    return fail(errc::invalid_config, "nobody was killed");
  const auto since = from_seconds(board.killed);
  if (!until([&] { return welcomed_since(since); }, recovery_patience))
    return fail(errc::invalid_config, "not all clients were welcomed again");
  const auto [first, last] = std::ranges::minmax_element(
    all, {}, [](const auto& x) { return x->welcomed(); });
  board.first = seconds((*first)->welcomed() - since);
  board.last = seconds((*last)->welcomed() - since);
  return {};
}

/// Real processes: a run of so many visits, whose server dies.
result<void> recover(recovery& board) {
  const scratch here;
  const auto file = here.path() / "run.toml";
  std::ofstream{file} << text;
  const auto runs = here.path() / "runs";
  std::optional<fs::path> run;
  helper_process server{program({"serve", file, "--listen", "tcp://127.0.0.1:0",
                                 "--insecure", "--folder", runs})};
  if (!until([&] { return (run = run_in(runs)).has_value(); },
             recovery_patience))
    return fail(errc::invalid_config, "the server did not begin");
  const auto address = address_of_run(*run);
  {
    const helper_process others{
      program({"join", address, "--insecure", "--virtual",
               std::to_string(recovering_clients - callers)})};
    if (!until([&] { return visits_in(*run) >= visits_before; },
               patience_with_visits))
      return fail(errc::invalid_config, "the run has but "
                                          + std::to_string(visits_in(*run))
                                          + " visits after five minutes");
  }
  helper_process called{[&] { return call(address, board); }};
  if (!until([&] { return board.all_here || called.ended(); },
             recovery_patience))
    return fail(errc::invalid_config, "clients did not begin");
  kill(server.id(), SIGKILL);
  board.killed = seconds(steady_now());
  (void)server.wait();
  const helper_process again{program({"serve", *run, "--insecure"})};
  return called.wait().map([](const process_usage&) {});
}

} // namespace

std::vector<figure> recover_figures() {
  const auto board = std::make_shared<shared_page<recovery>>();
  const auto done = std::make_shared<std::optional<result<void>>>();
  const auto once = [=](double recovery::*what, double bar) -> result<sample> {
    if (!*done)
      *done = recover(**board);
    if (!**done)
      return tl::make_unexpected((*done)->error());
    return sample{(**board).*what, bar};
  };
  const std::string after = " s after kill -9, with 100,000 visits merged";
  return {{.name = "recover_first",
           .unit = "ms to the first welcome",
           .compared_with = "1" + after,
           .bar = 1,
           .repetitions = 1,
           .once = [=] { return once(&recovery::first, 1); }},
          {.name = "recover_last",
           .unit = "ms to the last welcome of 30",
           .compared_with = "2" + after,
           .bar = 1,
           .repetitions = 1,
           .once = [=] { return once(&recovery::last, 2); }}};
}

} // namespace troupe::node
