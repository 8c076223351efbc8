#include "node/watch/http/listener.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include <netdb.h>
#include <sys/socket.h>

namespace troupe::http {

namespace {

// As many as may come while a page is made.
constexpr int backlog = 1024;

// What the kernel holds for a connection has a bound, too.
constexpr int sent_bytes = 64 << 10;
constexpr int received_bytes = 16 << 10;

struct place {
  std::string host;
  std::string port;
};

std::optional<place> parse(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == address.npos || colon == 0)
    return std::nullopt;
  place x{.host = address.substr(0, colon), .port = address.substr(colon + 1)};
  if (x.host.front() == '[' && x.host.back() == ']')
    x.host = x.host.substr(1, x.host.size() - 2);
  int port = -1;
  const auto* end = x.port.data() + x.port.size();
  const auto [read, wrong] = std::from_chars(x.port.data(), end, port);
  if (wrong != std::errc{} || read != end || port < 0 || port > 65535
      || x.host.empty())
    return std::nullopt;
  return x;
}

void set(int socket, int option, int value) {
  setsockopt(socket, SOL_SOCKET, option, &value, sizeof value);
}

descriptor listen_on(const addrinfo& at) {
  descriptor made{socket(at.ai_family,
                         at.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                         at.ai_protocol)};
  // Not SO_REUSEPORT, with which two servers share a port without a word.
  set(made.get(), SO_REUSEADDR, 1);
  set(made.get(), SO_SNDBUF, sent_bytes);
  set(made.get(), SO_RCVBUF, received_bytes);
  if (bind(made.get(), at.ai_addr, at.ai_addrlen) != 0
      || listen(made.get(), backlog) != 0)
    return descriptor{};
  return made;
}

struct numbers {
  std::string host;
  std::string port;
};

using end_of = int (*)(int, sockaddr*, socklen_t*);

numbers numbers_of(int socket, end_of which) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  auto* generic = reinterpret_cast<sockaddr*>(&at);
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "";
  if (which(socket, generic, &size) != 0
      || getnameinfo(generic, size, host, sizeof host, port, sizeof port,
                     NI_NUMERICHOST | NI_NUMERICSERV)
           != 0)
    return {};
  numbers x{.host = host, .port = port};
  // An address of IPv4 where a socket has both, and the link of a local one.
  if (x.host.starts_with("::ffff:"))
    x.host.erase(0, 7);
  x.host.erase(std::min(x.host.find('%'), x.host.size()));
  return x;
}

} // namespace

result<listener> listen_at(const std::string& address) {
  const auto at = parse(address);
  if (!at)
    return fail(errc::invalid_config,
                "--http '" + address
                  + "' is no address; 127.0.0.1:9464 would do, or port 0 for "
                    "any that is free");
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (getaddrinfo(at->host.c_str(), at->port.c_str(), &wanted, &found) != 0)
    found = nullptr;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all{found,
                                                           [](addrinfo* x) {
                                                             if (x != nullptr)
                                                               freeaddrinfo(x);
                                                           }};
  listener made{.socket = descriptor{}, .host = at->host, .address = {}};
  for (const auto* x = found; x != nullptr && made.socket.get() < 0;
       x = x->ai_next)
    made.socket = listen_on(*x);
  if (made.socket.get() < 0)
    return fail(errc::invalid_config,
                "--http " + address
                  + ": cannot listen there; somebody else may have the port, "
                    "or it is no address of this machine: 127.0.0.1:0 takes "
                    "any port that is free");
  const auto host =
    at->host.find(':') == at->host.npos ? at->host : "[" + at->host + "]";
  made.address = host + ":" + numbers_of(made.socket.get(), getsockname).port;
  return made;
}

ends ends_of(int socket) {
  return {.here = numbers_of(socket, getsockname).host,
          .there = numbers_of(socket, getpeername).host};
}

} // namespace troupe::http
