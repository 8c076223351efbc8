#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test {

/// Stands between those who dial and a server with keys, and alters a bit of
/// each thing that is said to the server behind the handshake, while it is told
/// to.
class altering_relay {
public:
  /// @param server as tcp://127.0.0.1:PORT
  explicit altering_relay(const std::string& server)
    : server_(place_of(server)),
      listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const auto any = place_of(":0");
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof any);
    ::listen(listener_, 8);
    thread_ = std::thread{[this] { work(); }};
  }

  altering_relay(const altering_relay&) = delete;
  altering_relay& operator=(const altering_relay&) = delete;

  ~altering_relay() {
    stopped_ = true;
    thread_.join();
    for (const auto& x : ways_)
      end(x);
    ::close(listener_);
  }

  std::string address() const {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    return "tcp://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }

  void alter(bool x) noexcept {
    alters_ = x;
  }

  /// How often it did.
  int altered() const noexcept {
    return altered_;
  }

private:
  struct way {
    int near;
    int far;
  };

  static sockaddr_in place_of(const std::string& address) {
    const auto port = std::stoi(address.substr(address.rfind(':') + 1));
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, "127.0.0.1", &out.sin_addr);
    return out;
  }

  static void end(const way& x) {
    ::close(x.near);
    ::close(x.far);
  }

  void work() {
    while (!stopped_) {
      std::vector<pollfd> all{{listener_, POLLIN, 0}};
      for (const auto& x : ways_) {
        all.push_back({x.near, POLLIN, 0});
        all.push_back({x.far, POLLIN, 0});
      }
      if (::poll(all.data(), all.size(), 20) <= 0)
        continue;
      std::vector<way> rest;
      for (std::size_t i = 0; i < ways_.size(); ++i) {
        const auto x = ways_[i];
        if ((all[2 * i + 1].revents == 0 || carry(x.near, x.far, true))
            && (all[2 * i + 2].revents == 0 || carry(x.far, x.near, false)))
          rest.push_back(x);
        else
          end(x);
      }
      ways_ = std::move(rest);
      if (all.front().revents != 0)
        take();
    }
  }

  void take() {
    const way x{::accept(listener_, nullptr, nullptr),
                ::socket(AF_INET, SOCK_STREAM, 0)};
    const auto* to = reinterpret_cast<const sockaddr*>(&server_);
    if (x.near >= 0 && ::connect(x.far, to, sizeof server_) == 0)
      ways_.push_back(x);
    else
      end(x);
  }

  /// False: one of them has ended.
  bool carry(int from, int to, bool up) {
    std::array<char, 16384> part{};
    const auto n = ::recv(from, part.data(), part.size(), 0);
    if (n <= 0)
      return false;
    const auto size = static_cast<std::size_t>(n);
    if (up && alters_ && is_behind_handshake({part.data(), size})) {
      part[size - 1] = static_cast<char>(part[size - 1] ^ 1);
      ++altered_;
    }
    for (std::size_t at = 0; at < size;) {
      const auto sent = ::send(to, part.data() + at, size - at, MSG_NOSIGNAL);
      if (sent <= 0)
        return false;
      at += static_cast<std::size_t>(sent);
    }
    return true;
  }

  /// CURVE's commands say what they are.
  static bool is_behind_handshake(std::string_view x) {
    return x.find("\7MESSAGE") != x.npos;
  }

  const sockaddr_in server_;
  const int listener_;
  std::vector<way> ways_; ///< Of the thread.
  std::atomic<bool> alters_{false};
  std::atomic<int> altered_{0};
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

} // namespace troupe::test
