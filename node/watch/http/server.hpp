#pragma once

// Pages over HTTP, for people and for Prometheus. Bounded: two threads answer,
// a few connections wait, each is closed after one answer or two silent
// seconds.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/result.hpp"

namespace troupe::http {

struct answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

/// Called on the server's threads. @param json the reader asked for JSON
using page = std::function<answer(bool json)>;

class server {
public:
  /// Answers from now on. `address` is HOST:PORT; port 0 takes one that is
  /// free. Returns `invalid_config` with what would do if it cannot listen
  /// there.
  [[nodiscard]] static result<std::unique_ptr<server>>
  open(const std::string& address, std::map<std::string, page> pages);

  /// Answers what it is at, and ends.
  ~server();

  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// HOST:PORT, with the port that it has.
  const std::string& address() const noexcept {
    return address_;
  }

private:
  struct library;

  server();

  std::string address_;
  std::unique_ptr<library> inner_;
};

} // namespace troupe::http
