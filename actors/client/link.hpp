#pragma once

// Clients and a gateway in one process: messages pass as they are, values by
// pointer. This and the gateway are where CAF meets transport.

#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "actors/client/hub.hpp"

namespace troupe::actors {

/// Both ends of all connections within a process. Thread-safe.
class in_process_hub : public server_hub,
                       public client_hub,
                       public std::enable_shared_from_this<in_process_hub> {
public:
  void bind(gateway_actor x) override;

  /// Connects a client. Its peer id is its client id.
  void connect(client_id who, client_actor x) override;

  /// From now on what is sent to clients waits for `release`. Under a simulated
  /// clock clients hear of an instant when the node has done all of it: what
  /// they fetch then does not depend on which of its actors was faster. What is
  /// too much for a client is delivered before the end of the instant.
  void hold();

  /// Delivers what waits, by client. False if nothing did.
  bool release();

  /// Of both sides.
  void close() override;

  std::shared_ptr<transport::endpoint> server_side() override;
  std::shared_ptr<transport::endpoint> client_side(client_id who) override;

  void to_gateway(peer_id from, messages::any_message x) const;
  void to_client(peer_id to, messages::any_message x);

private:
  void deliver(peer_id to, messages::any_message x) const;

  mutable std::shared_mutex mutex_;
  gateway_actor gateway_;
  std::map<peer_id, client_actor> clients_;
  bool holding_ = false;
  std::map<peer_id, std::vector<messages::any_message>> held_;
};

} // namespace troupe::actors
