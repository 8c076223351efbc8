#pragma once

// Where a run's connections meet: a server's side of them and its clients', in
// one process or in many.

#include <memory>

#include "actors/interfaces.hpp"
#include "actors/transport/endpoint.hpp"

namespace troupe::actors {

/// For a client of which a server that begins again knows nothing.
inline messages::farewell hello_wanted() {
  return {messages::farewell_reason::no_session, "say hello"};
}

/// All connections of a server. Thread-safe.
class server_hub {
public:
  virtual ~server_hub() = default;

  /// Where clients' messages go from now on; a restarted node binds again, and
  /// who spoke with the one before hears that it is to say hello.
  virtual void bind(gateway_actor x) = 0;

  virtual std::shared_ptr<transport::endpoint> server_side() = 0;

  /// Lets go of all actors.
  virtual void close() = 0;
};

/// The connections of a process's clients. Thread-safe.
class client_hub {
public:
  virtual ~client_hub() = default;

  /// Where the server's messages to a client go.
  virtual void connect(client_id who, client_actor x) = 0;

  virtual std::shared_ptr<transport::endpoint> client_side(client_id who) = 0;

  /// Lets go of all actors.
  virtual void close() = 0;
};

} // namespace troupe::actors
