#pragma once

#include <string>
#include <utility>

#include <unistd.h>

#include "core/result.hpp"

struct sockaddr;

namespace troupe::http {

/// Closes what it has.
class descriptor {
public:
  explicit descriptor(int x = -1) noexcept : x_(x) {
    // nop
  }

  descriptor(descriptor&& other) noexcept : x_(std::exchange(other.x_, -1)) {
    // nop
  }

  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(x_, other.x_);
    return *this;
  }

  ~descriptor() {
    if (x_ >= 0)
      ::close(x_);
  }

  int get() const noexcept {
    return x_;
  }

private:
  int x_;
};

struct listener {
  descriptor socket;   ///< Does not block.
  std::string host;    ///< As it was named, without brackets.
  std::string address; ///< HOST:PORT, with the port that it has.
};

/// Returns `invalid_config` with what would do if it cannot listen at
/// HOST:PORT.
[[nodiscard]] result<listener> listen_at(const std::string& address);

/// The two ends of a connection, as numbers without a port.
struct ends {
  std::string here;
  std::string there;
};

ends ends_of(int socket);

} // namespace troupe::http
