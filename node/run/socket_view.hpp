#pragma once

#include "actors/metrics/socket_status.hpp"
#include "actors/transport/refusals.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"

namespace troupe::node {

/// What metrics say of a server's socket.
actors::socket_status status_of_server(transport::socket_endpoint& x,
                                       const transport::refusals& refused);

/// Of one that dialled.
actors::socket_status status_of_dialler(transport::socket_endpoint& x);

} // namespace troupe::node
