#pragma once

// Pages over HTTP, for people and for Prometheus, on a port that strangers may
// reach. One thread and no more memory than core/limits.hpp says, whoever
// comes: a connection has one answer and a deadline, sockets never block, and
// where there are too many, one of those who have most of them goes
// (docs/decisions/0018-an-http-server-of-our-own.md).

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/limits.hpp"
#include "core/result.hpp"
#include "node/watch/http/answer.hpp"
#include "node/watch/http/tally.hpp"

namespace troupe::http {

struct options {
  /// By which readers may ask, beside localhost, the host of the address and
  /// the address at which a connection came in.
  std::vector<std::string> names = {};
  /// From the first moment of a connection to the last byte of its answer.
  instant deadline = std::chrono::seconds{5};
  std::size_t connections_max = limits::http_connections_max;
  /// Told of each that was answered.
  std::shared_ptr<tally> counted = std::make_shared<tally>();
};

class server {
public:
  /// Answers from now on. `address` is HOST:PORT; port 0 takes one that is
  /// free. Returns `invalid_config` with what would do if it cannot listen
  /// there, or a name is none.
  [[nodiscard]] static result<std::unique_ptr<server>>
  open(const std::string& address, std::map<std::string, page> pages,
       const options& opts = {});

  /// Closes all connections, whatever they wait for. Waits for a page that is
  /// being made.
  ~server();

  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// HOST:PORT, with the port that it has.
  const std::string& address() const noexcept {
    return address_;
  }

private:
  class desk;

  server();

  std::string address_;
  std::unique_ptr<desk> desk_;
};

} // namespace troupe::http
