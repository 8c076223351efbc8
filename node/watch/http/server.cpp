#include "node/watch/http/server.hpp"

#include <atomic>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <httplib.h>

#include "core/limits.hpp"

namespace troupe::http {

namespace {

constexpr std::size_t threads = 2;
constexpr time_t silence_seconds = 2;

/// As the library's own, but what does not fit waits outside: the kernel holds
/// a few more connections, and refuses the rest.
class bounded_queue final : public httplib::TaskQueue {
public:
  bounded_queue() {
    for (std::size_t i = 0; i < threads; ++i)
      workers_.emplace_back([this] { work(); });
  }

  // Newer releases of the library want to hear whether there was room.
  using answered =
    decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));

  answered enqueue(std::function<void()> task) override {
    std::unique_lock guard{mutex_};
    changed_.wait(guard, [this] {
      return closing_ || tasks_.size() < limits::http_connections_max;
    });
    tasks_.push_back(std::move(task));
    changed_.notify_all();
    return answered(true);
  }

  void shutdown() override {
    {
      const std::lock_guard guard{mutex_};
      closing_ = true;
    }
    changed_.notify_all();
    workers_.clear(); // Joins.
  }

private:
  // Each task closes its connection, so all of them run.
  void work() {
    for (;;) {
      std::function<void()> next;
      {
        std::unique_lock guard{mutex_};
        changed_.wait(guard, [this] { return closing_ || !tasks_.empty(); });
        if (tasks_.empty())
          return;
        next = std::move(tasks_.front());
        tasks_.pop_front();
      }
      changed_.notify_all();
      next();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool closing_ = false;
  std::vector<std::jthread> workers_;
};

struct place {
  std::string host;
  int port = 0;
};

std::optional<place> parse(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == address.npos || colon == 0)
    return std::nullopt;
  place x{.host = address.substr(0, colon)};
  if (x.host.front() == '[' && x.host.back() == ']')
    x.host = x.host.substr(1, x.host.size() - 2);
  const auto* first = address.data() + colon + 1;
  const auto* last = address.data() + address.size();
  const auto [end, wrong] = std::from_chars(first, last, x.port);
  if (wrong != std::errc{} || end != last || x.port < 0 || x.port > 65535
      || x.host.empty())
    return std::nullopt;
  return x;
}

bool wants_json(const httplib::Request& x) {
  return x.get_param_value("format") == "json"
         || x.get_header_value("Accept").find("application/json")
              != std::string::npos;
}

} // namespace

struct server::library {
  httplib::Server listener;
  std::atomic<bool> ended{false};
  std::jthread thread;

  // Returns when it listens: before that, `stop` would go unheard.
  void start() {
    thread = std::jthread{[this] {
      listener.listen_after_bind();
      ended = true;
    }};
    while (!listener.is_running() && !ended)
      std::this_thread::yield();
  }
};

server::server() : inner_(std::make_unique<library>()) {
  // nop
}

server::~server() {
  inner_->listener.stop();
}

result<std::unique_ptr<server>>
server::open(const std::string& address, std::map<std::string, page> pages) {
  const auto at = parse(address);
  if (!at)
    return fail(errc::invalid_config,
                "--http '" + address
                  + "' is no address; 127.0.0.1:9464 would do, or port 0 for "
                    "any that is free");
  std::unique_ptr<server> made{new server};
  auto& listener = made->inner_->listener;
  listener.new_task_queue = [] { return new bounded_queue; };
  // The library's own choice lets two servers share a port without a word.
  listener.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  listener.set_keep_alive_max_count(1);
  listener.set_read_timeout(silence_seconds);
  listener.set_write_timeout(silence_seconds);
  listener.set_payload_max_length(1024);
  for (auto& [path, make] : pages)
    listener.Get(path, [make = make](const httplib::Request& asked,
                                     httplib::Response& said) {
      const auto x = make(wants_json(asked));
      said.status = x.status;
      said.set_content(x.body, x.type.c_str());
    });
  const auto port = at->port == 0 ? listener.bind_to_any_port(at->host)
                    : listener.bind_to_port(at->host, at->port) ? at->port
                                                                : -1;
  if (port < 0)
    return fail(errc::invalid_config,
                "--http " + address
                  + ": cannot listen there; somebody else may have the port, "
                    "or it is no address of this machine: 127.0.0.1:0 takes "
                    "any port that is free");
  const auto host =
    at->host.find(':') == at->host.npos ? at->host : "[" + at->host + "]";
  made->address_ = host + ":" + std::to_string(port);
  made->inner_->start();
  return made;
}

} // namespace troupe::http
