#pragma once

// Has a served run go over to the server's next pair of keys: those who are
// here are told, and at the moment that the folder of keys says the listener
// changes.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/clock.hpp"
#include "core/keys.hpp"
#include "node/run/guard.hpp"
#include "node/run/pair_change.hpp"

namespace troupe::node {

class pair_keeper {
public:
  struct neighbours {
    std::shared_ptr<guard> keys;
    std::shared_ptr<transport::socket_endpoint> socket;
    /// Another pair serves.
    std::function<void()> changed;
    std::function<void(const std::string& line)> log;
  };

  explicit pair_keeper(neighbours x) : beside_(std::move(x)) {
    // nop
  }

  /// To be called now and then.
  void look();

private:
  result<std::optional<coming_pair>>
  still_coming(const std::optional<coming_pair>& found) const;
  void tell();
  void conclude();
  void log_once(const std::string& problem);

  neighbours beside_;
  pair_change change_;
  std::optional<coming_pair> next_;
  std::optional<public_key> wanted_; ///< The socket is to listen with it.
  instant wanted_at_{};
  std::string problem_; ///< That was logged.
  instant looked_at_{};
};

} // namespace troupe::node
