#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "actors/messages/session.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "node/join/join.hpp"

namespace troupe::node {

join_summary ended(join_summary::end how, std::string why,
                   std::string hint = {});

/// By who sits at it; what is in a store stays.
join_summary interrupted(const join_context& in);

/// What this machine says of a host that it does not know; empty: it knows the
/// one of this tcp://HOST:PORT. Who resolves names may take some seconds.
std::string unknown_host(const std::string& address);

/// As the server's last word to a client has it.
join_summary conclude(const messages::farewell& x);

/// So the process ends, and whoever is there hears that it leaves. @param from
/// null: it has not dialled
join_summary parted(const std::shared_ptr<transport::socket_endpoint>& from,
                    join_summary how);

/// What the server said to its clients for good.
class farewells {
public:
  void hear(const messages::farewell& x) {
    const std::lock_guard guard{mutex_};
    ++count_;
    if (!first_ || x.reason != messages::farewell_reason::finished)
      first_ = x;
  }

  std::uint64_t count() const {
    const std::lock_guard guard{mutex_};
    return count_;
  }

  /// The run is over for all of them, whoever has heard so.
  void hear_the_end(const std::string& why) {
    const std::lock_guard guard{mutex_};
    end_ = why;
  }

  std::optional<std::string> run_is_over() const {
    const std::lock_guard guard{mutex_};
    return end_;
  }

  /// The worst of them.
  messages::farewell worst() const {
    const std::lock_guard guard{mutex_};
    return first_.value_or(messages::farewell{});
  }

private:
  mutable std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::optional<messages::farewell> first_;
  std::optional<std::string> end_;
};

} // namespace troupe::node
