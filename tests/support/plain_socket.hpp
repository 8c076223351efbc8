#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace troupe::test {

/// What a peer of ZMTP 3.1 whose mechanism is NULL says first: a signature, a
/// version, the mechanism in 20 bytes, and 32 that say nothing.
inline std::string greeting_without_keys() {
  std::string said{"\xff\0\0\0\0\0\0\0\1\x7f\3\1NULL", 16};
  said.resize(64, '\0');
  return said;
}

/// A connection to a port of this machine that says what it is told to.
class plain_socket {
public:
  /// @param address HOST:PORT, of which the port counts
  /// @param from one of this machine's own: any that begins with 127
  explicit plain_socket(const std::string& address,
                        const std::string& from = "127.0.0.1")
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const auto port = std::stoi(address.substr(address.rfind(':') + 1));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    // No test waits for ever, and thousands of connections leave no ports that
    // wait for a late segment.
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const linger reset{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    inet_pton(AF_INET, from.c_str(), &own.sin_addr);
    bind(socket_, reinterpret_cast<sockaddr*>(&own), sizeof own);
    connected_ =
      connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }

  plain_socket(plain_socket&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      connected_(other.connected_) {
    // nop
  }

  plain_socket& operator=(plain_socket&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(connected_, other.connected_);
    return *this;
  }

  ~plain_socket() {
    if (socket_ >= 0)
      ::close(socket_);
  }

  bool connected() const noexcept {
    return connected_;
  }

  /// Never waits. @return how much of it the kernel took
  std::size_t say(std::string_view text) {
    const auto n =
      send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return n < 0 ? 0 : static_cast<std::size_t>(n);
  }

  void say_no_more() {
    shutdown(socket_, SHUT_WR);
  }

  /// What comes until the other side closes.
  std::string hear() {
    std::string heard;
    char part[4096];
    for (ssize_t n = 0; (n = recv(socket_, part, sizeof part, 0)) > 0;)
      heard.append(part, static_cast<std::size_t>(n));
    return heard;
  }

  /// Whether the other side closes within so long; reads nothing.
  bool is_closed(int within_ms = 0) {
    pollfd x{.fd = socket_, .events = POLLRDHUP, .revents = 0};
    return poll(&x, 1, within_ms) > 0;
  }

private:
  int socket_;
  bool connected_ = false;
};

/// A port of this machine where something answers that is no server of ours.
class plain_listener {
public:
  plain_listener() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int on = 1;
    setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
    bind(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at);
    listen(socket_, 8);
  }

  plain_listener(const plain_listener&) = delete;
  plain_listener& operator=(const plain_listener&) = delete;

  ~plain_listener() {
    ::close(socket_);
  }

  std::string address() const {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size);
    return "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }

  /// Says this to the next one who comes, and hangs up. False: nobody came.
  bool answer(std::string_view text, int within_ms = 60'000) {
    pollfd x{.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&x, 1, within_ms) <= 0)
      return false;
    const int who = accept(socket_, nullptr, nullptr);
    const auto n = send(who, text.data(), text.size(), MSG_NOSIGNAL);
    ::close(who);
    return n == static_cast<ssize_t>(text.size());
  }

private:
  int socket_;
};

/// What comes back on a connection of its own.
inline std::string asked(const std::string& address, std::string_view text) {
  plain_socket x{address};
  x.say(text);
  return x.hear();
}

} // namespace troupe::test
