#include "actors/transport/zmq/bare.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <thread>

#include <zmq.hpp>

#include "actors/transport/zmq/door.hpp"
#include "actors/transport/zmq/monitor.hpp"
#include "actors/transport/zmq/set_up.hpp"
#include "core/clock.hpp"

namespace troupe::transport::bare {

namespace {

constexpr std::chrono::milliseconds glance{100};
constexpr int queued_max = 64;
constexpr auto at_once = zmq::recv_flags::dontwait;

void bind(zmq::socket_t& x, const listener& listening) {
  x.set(zmq::sockopt::sndhwm, 0);
  x.set(zmq::sockopt::rcvhwm, queued_max);
  x.set(zmq::sockopt::backlog, 4096); // As a server of ours.
  x.bind("tcp://127.0.0.1:*");
  listening(x.get(zmq::sockopt::last_endpoint));
}

void secure(zmq::socket_t& x, const security& keys) {
  if (keys)
    use_keys(x, keys->client, keys->server.open);
}

bool wait(zmq::socket_t& x) {
  zmq::pollitem_t items[] = {{x.handle(), 0, ZMQ_POLLIN, 0}};
  return zmq::poll(items, 1, glance) > 0;
}

/// The same of who has a door, at which it is asked of each connection.
bool wait(zmq::socket_t& x, door& entrance) {
  zmq::pollitem_t items[] = {{x.handle(), 0, ZMQ_POLLIN, 0},
                             {entrance.handle(), 0, ZMQ_POLLIN, 0}};
  if (zmq::poll(items, 2, glance) > 0 && items[1].revents != 0)
    entrance.answer(steady_now());
  return items[0].revents != 0;
}

/// Before the socket is bound.
std::optional<door> guarded(zmq::socket_t& x, zmq::context_t& context,
                            const security& keys) {
  std::optional<door> out;
  if (!keys)
    return out;
  const auto all = [](const public_key&) { return key_standing::allowed; };
  out.emplace(context, server_keys{keys->server, all, all},
              std::make_shared<refusals>());
  out->guard(x);
  return out;
}

/// All parts of the next message, if there is one.
std::vector<zmq::message_t> next(zmq::socket_t& from) {
  std::vector<zmq::message_t> parts;
  for (bool more = true; more;) {
    zmq::message_t part;
    if (!from.recv(part, at_once))
      break;
    more = part.more();
    parts.push_back(std::move(part));
  }
  return parts;
}

void say(zmq::socket_t& to, std::vector<zmq::message_t>& parts) {
  for (auto& x : parts)
    (void)to.send(x, &x == &parts.back() ? zmq::send_flags::none
                                         : zmq::send_flags::sndmore);
}

std::vector<zmq::message_t> question(const questions& x) {
  std::vector<zmq::message_t> parts;
  for (const auto size : {x.head_bytes, x.body_bytes}) {
    parts.emplace_back(size);
    std::memset(parts.back().data(), 1, size);
  }
  return parts;
}

} // namespace

void echo(const listener& listening, const std::atomic<bool>& stop,
          const security& keys) {
  auto context = lean_context();
  zmq::socket_t socket{context, zmq::socket_type::router};
  socket.set(zmq::sockopt::linger, 0); // Who asked may be gone.
  auto entrance = guarded(socket, context, keys);
  bind(socket, listening);
  while (!stop) {
    if (!(entrance ? wait(socket, *entrance) : wait(socket)))
      continue;
    for (auto parts = next(socket); !parts.empty(); parts = next(socket))
      say(socket, parts);
  }
}

answers ask(const std::string& address, const questions& x) {
  zmq::context_t context;
  zmq::socket_t socket{context, zmq::socket_type::dealer};
  socket.set(zmq::sockopt::linger, 0);
  secure(socket, x.keys);
  socket.connect(address);
  answers out;
  std::deque<instant> asked; // One peer answers in order.
  const auto one_more = [&] {
    auto parts = question(x);
    asked.push_back(steady_now());
    say(socket, parts);
  };
  for (int i = 0; i < x.in_flight; ++i)
    one_more();
  const auto end = steady_now() + from_seconds(x.seconds);
  while (steady_now() < end) {
    if (!wait(socket))
      continue;
    while (!next(socket).empty()) {
      out.seconds.push_back(seconds(steady_now() - asked.front()));
      asked.pop_front();
      ++out.count;
      one_more();
    }
  }
  return out;
}

void take(const listener& listening, std::uint64_t bytes,
          const security& keys) {
  zmq::context_t context;
  zmq::socket_t socket{context, zmq::socket_type::router};
  socket.set(zmq::sockopt::linger, 1000); // For the last answer.
  auto entrance = guarded(socket, context, keys);
  bind(socket, listening);
  std::uint64_t taken = 0;
  while (taken < bytes) {
    if (!(entrance ? wait(socket, *entrance) : wait(socket)))
      continue;
    for (auto parts = next(socket); !parts.empty(); parts = next(socket)) {
      for (std::size_t i = 2; i < parts.size(); ++i)
        taken += parts[i].size();
      parts.resize(1);
      parts.emplace_back(1);
      if (taken >= bytes)
        say(socket, parts);
    }
  }
}

void give(const std::string& address, std::uint64_t bytes,
          std::size_t head_bytes, std::size_t chunk_bytes,
          const security& keys) {
  zmq::context_t context;
  zmq::socket_t socket{context, zmq::socket_type::dealer};
  secure(socket, keys);
  socket.set(zmq::sockopt::sndhwm, queued_max);
  socket.connect(address);
  std::vector<char> values(std::size_t{40} << 20, 'v');
  for (std::uint64_t at = 0; at < bytes;) {
    const auto place = at % values.size();
    const auto size =
      std::min<std::uint64_t>({chunk_bytes, bytes - at, values.size() - place});
    std::vector<zmq::message_t> parts;
    parts.emplace_back(head_bytes);
    std::memset(parts.back().data(), 1, head_bytes);
    parts.emplace_back(
      values.data() + place, size, [](void*, void*) {}, nullptr);
    say(socket, parts);
    at += size;
  }
  while (next(socket).empty())
    (void)wait(socket);
}

struct crowd::sockets {
  zmq::context_t context;
  zmq::socket_t one{context, zmq::socket_type::dealer};
};

// One socket that connects again and again has as many connections, and takes
// them in turn; but to one address it connects once, so each comes from another
// place of this machine. A handshake that is not made in time is made anew, and
// leaves memory behind that is not of an idle connection: few are made at once.
crowd::crowd(const std::string& address, const public_key& server,
             const std::vector<key_pair>& keys)
  : at_(std::make_unique<sockets>()) {
  constexpr std::size_t at_once = 50;
  constexpr std::chrono::minutes patience{5};
  const auto until = steady_now() + patience;
  connection_monitor made{at_->context, at_->one,
                          ZMQ_EVENT_HANDSHAKE_SUCCEEDED};
  std::size_t count = 0;
  at_->one.set(zmq::sockopt::linger, 0);
  at_->one.set(zmq::sockopt::sndhwm, 0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    use_keys(at_->one, keys[i], server); // Of the next one.
    const auto place =
      std::to_string(1 + i / 200) + "." + std::to_string(1 + i % 200);
    at_->one.connect("tcp://127.1." + place + ":0;"
                     + address.substr(address.find("//") + 2));
    while (i + 1 - count >= at_once && steady_now() < until)
      if (made.next())
        ++count;
      else
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

crowd::~crowd() = default;

void crowd::say(const piece& x, shape how) {
  const auto head = head_of(x);
  const auto& body = x.body.bytes;
  std::vector<std::byte> last{body.begin(), body.end()};
  if (how == shape::two_parts)
    (void)at_->one.send(zmq::buffer(head), zmq::send_flags::sndmore);
  else
    last.insert(last.begin(), head.begin(), head.end());
  (void)at_->one.send(zmq::buffer(last), zmq::send_flags::none);
}

std::size_t crowd::hear(std::size_t count, double seconds_max) {
  const auto until = steady_now() + from_seconds(seconds_max);
  std::size_t heard = 0;
  while (heard < count && steady_now() < until)
    if (wait(at_->one))
      while (!next(at_->one).empty())
        ++heard;
  return heard;
}

} // namespace troupe::transport::bare
