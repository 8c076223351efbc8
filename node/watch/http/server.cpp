#include "node/watch/http/server.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <list>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include <sys/eventfd.h>
#include <sys/poll.h>
#include <sys/socket.h>

#include "node/watch/http/copies.hpp"
#include "node/watch/http/crowd.hpp"
#include "node/watch/http/listener.hpp"
#include "node/watch/http/request.hpp"

namespace troupe::http {

namespace {

using namespace std::chrono_literals;

/// Who was answered may close first: to close on what was not read would take
/// the answer from those who have not read it yet.
constexpr instant farewell = 1s;

/// While the process has no descriptor left.
constexpr instant pause = 100ms;

/// At a time, so that others are heard meanwhile.
constexpr int arrivals_max = 32;

/// What a connection has to say something before it has to go: who asks as soon
/// as it is connected is always heard.
constexpr instant grace = 20ms;

std::string listed(const std::map<std::string, page>& pages) {
  std::string out;
  for (const auto& [path, what] : pages)
    out += (out.empty() ? " " : ", ") + path;
  return out;
}

struct connection {
  enum class state { asks, hears, leaves, is_over };

  descriptor socket;
  ends at;
  instant since{};
  instant until{};
  state now = state::asks;
  std::array<char, limits::http_head_bytes_max> bytes;
  std::size_t read = 0;
  shared_copy answer = nullptr;
  std::string page = "other"; ///< What it is an answer of.
  std::size_t sent = 0;
  std::size_t to_send = 0;

  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  ~connection() {
    hang_up();
  }

  /// Who does not take its answer loses what the kernel holds of it, too.
  void hang_up() {
    const linger reset{.l_onoff = 1, .l_linger = 0};
    if (sent < to_send)
      setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    socket = descriptor{};
  }

  short events() const noexcept {
    return now == state::asks    ? POLLIN
           : now == state::hears ? POLLOUT
                                 : POLLRDHUP;
  }
};

using enum connection::state;

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

int milliseconds_until(instant due, instant now) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(due - now);
  return static_cast<int>(std::clamp<std::int64_t>(ms.count(), 0, 60'000));
}

} // namespace

class server::desk {
public:
  desk(listener at, descriptor bell, std::map<std::string, page> pages,
       std::set<std::string> names, const options& opts)
    : listener_(std::move(at)),
      bell_(std::move(bell)),
      none_("there is no such page; there are" + listed(pages)),
      copies_(std::move(pages)),
      names_(std::move(names)),
      opts_(opts),
      thread_([this] { run(); }) {
    // nop
  }

  ~desk() {
    ended_ = true;
    eventfd_write(bell_.get(), 1);
  }

private:
  void run() {
    while (!ended_) {
      try {
        turn();
      } catch (const std::exception&) {
        // There is no memory: those who ask are the least of what needs it.
        connections_.clear();
        open_again_ = steady_now() + pause;
      }
    }
  }

  void turn() {
    wait();
    const auto now = steady_now();
    auto seen = polled_.begin() + 2;
    for (auto& x : connections_) {
      const auto events = (seen++)->revents;
      if (now >= x.until || (events & (POLLERR | POLLHUP | POLLNVAL)) != 0)
        x.now = is_over;
      else if (events != 0)
        go_on(x, now);
    }
    sweep();
    if (polled_[1].revents != 0)
      take_in(now);
    sweep();
    opts_.counted->connected(connections_.size());
  }

  void sweep() {
    std::erase_if(connections_, [](const auto& x) { return x.now == is_over; });
  }

  void wait() {
    const auto now = steady_now();
    const bool open = now >= open_again_;
    auto due = open ? now + 1min : open_again_;
    polled_.assign({{.fd = bell_.get(), .events = POLLIN, .revents = 0},
                    {.fd = open ? listener_.socket.get() : -1,
                     .events = POLLIN,
                     .revents = 0}});
    for (const auto& x : connections_) {
      polled_.push_back(
        {.fd = x.socket.get(), .events = x.events(), .revents = 0});
      due = std::min(due, x.until);
    }
    if (poll(polled_.data(), polled_.size(), milliseconds_until(due, now)) < 0)
      for (auto& x : polled_)
        x.revents = 0;
  }

  void take_in(instant now) {
    for (int i = 0; i < arrivals_max; ++i) {
      if (connections_.size() > opts_.connections_max && !make_room(now))
        return;
      descriptor socket{accept4(listener_.socket.get(), nullptr, nullptr,
                                SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (socket.get() < 0) {
        if (errno == ECONNABORTED || errno == EINTR)
          continue;
        if (!would_block()) {
          make_room(now); // There may be no descriptor left.
          open_again_ = now + pause;
        }
        return;
      }
      auto& x = connections_.emplace_back();
      x.socket = std::move(socket);
      x.at = ends_of(x.socket.get());
      x.since = now;
      x.until = now + opts_.deadline;
      go_on(x, now); // Most have said all by now.
    }
  }

  /// Closes one connection. Where it is not the time of any, the others wait
  /// outside a little longer.
  bool make_room(instant now) {
    auto gone = std::ranges::find(connections_, connection::state::leaves,
                                  &connection::now);
    if (gone == connections_.end() && !connections_.empty()) {
      std::vector<std::string> peers;
      for (const auto& x : connections_)
        peers.push_back(x.at.there);
      gone = std::next(connections_.begin(),
                       static_cast<std::ptrdiff_t>(who_makes_room(peers)));
      if (now < gone->since + grace) {
        open_again_ = gone->since + grace;
        return false;
      }
    }
    if (gone != connections_.end())
      connections_.erase(gone);
    return true;
  }

  void go_on(connection& x, instant now) {
    if (x.now == asks)
      hear(x, now);
    if (x.now == hears)
      tell(x, now);
    else if (x.now == leaves)
      x.now = is_over; // The other side has closed.
  }

  void hear(connection& x, instant now) {
    const auto n =
      recv(x.socket.get(), x.bytes.data() + x.read, x.bytes.size() - x.read, 0);
    if (n <= 0) {
      if (n == 0 || !would_block())
        x.now = is_over;
      return;
    }
    x.read += static_cast<std::size_t>(n);
    const auto said = parse_request({x.bytes.data(), x.read});
    if (std::holds_alternative<incomplete>(said))
      return;
    const auto* wanted = std::get_if<request>(&said);
    x.answer =
      wanted ? answer_to(*wanted, x, now)
             : std::make_shared<const copy>(copy_of(std::get<refusal>(said)));
    x.to_send =
      wanted && wanted->head ? x.answer->head : x.answer->bytes.size();
    x.now = hears;
    forget_who_does_not_read(x);
  }

  shared_copy answer_to(const request& wanted, connection& x, instant now) {
    // Whoever can have a name point here could read these pages with the
    // browser of a person who may.
    if (wanted.host != x.at.here && !names_.contains(wanted.host))
      return std::make_shared<const copy>(copy_of(
        refusal{.status = 421,
                .why = "this is not '" + wanted.host + "'; --http-hosts "
                       + wanted.host + " would make it so"}));
    if (auto found = copies_.of(wanted.path, wanted.json, now)) {
      x.page = wanted.path.substr(1); // Behind a '/', as all pages.
      return found;
    }
    return std::make_shared<const copy>(
      copy_of(refusal{.status = 404, .why = none_}));
  }

  void tell(connection& x, instant now) {
    while (x.sent < x.to_send) {
      const auto n = send(x.socket.get(), x.answer->bytes.data() + x.sent,
                          x.to_send - x.sent, MSG_NOSIGNAL);
      if (n < 0) {
        if (!would_block())
          x.now = is_over;
        return;
      }
      x.sent += static_cast<std::size_t>(n);
    }
    opts_.counted->answered(x.page, seconds(steady_now() - x.since));
    x.answer = nullptr;
    x.now = leaves;
    x.until = std::min(x.until, now + farewell);
    shutdown(x.socket.get(), SHUT_WR);
  }

  /// Copies that are out, but the one that was made last, have a bound; with
  /// the oldest go all who have not read it.
  void forget_who_does_not_read(const connection& last) {
    std::set<shared_copy> held;
    std::size_t bytes = 0;
    for (const auto& x : connections_)
      if (x.answer && x.answer != last.answer && held.insert(x.answer).second)
        bytes += x.answer->bytes.size();
    for (auto& x : connections_) {
      if (bytes <= limits::http_unread_bytes_max)
        return;
      if (!x.answer || x.answer == last.answer)
        continue;
      const auto gone = x.answer;
      bytes -= gone->bytes.size();
      for (auto& y : connections_)
        if (y.answer == gone)
          let_go(y);
    }
  }

  // Elements stay where they are: this may be in the middle of a turn.
  static void let_go(connection& x) {
    x.hang_up();
    x.answer = nullptr;
    x.until = instant{};
    x.now = is_over;
  }

  listener listener_;
  descriptor bell_;
  const std::string none_; ///< What who asks for another page hears.
  copies copies_;
  const std::set<std::string> names_;
  const options opts_;
  std::list<connection> connections_; ///< The oldest first.
  std::vector<pollfd> polled_;        ///< The bell, the door, and these.
  instant open_again_{};
  std::atomic<bool> ended_{false};
  std::jthread thread_; ///< Last: it uses all of the above.
};

server::server() = default;
server::~server() = default;

result<std::unique_ptr<server>> server::open(const std::string& address,
                                             std::map<std::string, page> pages,
                                             const options& opts) {
  auto at = listen_at(address);
  if (!at)
    return tl::unexpected{at.error()};
  std::set<std::string> names{"localhost", "127.0.0.1", "::1", at->host};
  for (const auto& x : opts.names) {
    auto name = host_name(x);
    if (!name)
      return fail(errc::invalid_config,
                  "--http-hosts '" + x
                    + "' is no name of a host; troupe.example would do");
    names.insert(std::move(*name));
  }
  descriptor bell{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (bell.get() < 0)
    return fail(errc::invalid_config,
                "--http: this process may open no more files");
  std::unique_ptr<server> made{new server};
  made->address_ = at->address;
  made->desk_ = std::make_unique<desk>(
    std::move(*at), std::move(bell), std::move(pages), std::move(names), opts);
  return made;
}

} // namespace troupe::http
