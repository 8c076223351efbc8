#pragma once

#include "actors/messages/terms.hpp"
#include "actors/transport/endpoint.hpp"
#include "node/join/inquiry.hpp"
#include "node/join/join.hpp"

namespace troupe::node {

/// Whom a process asks before it takes part, and about which run.
struct asked_server {
  const join_context& in;
  const messages::terms_given& terms;
  inquiry& asked;
  transport::endpoint& network;
  inquiry::patience how_long;
};

} // namespace troupe::node
