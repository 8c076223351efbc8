#pragma once

// Clients and a gateway in processes of their own: what a socket hears becomes
// mail. Which socket that is, these do not know.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>

#include "actors/client/hub.hpp"
#include "actors/transport/peers.hpp"

namespace troupe::actors {

class server_socket_hub final : public server_hub {
public:
  /// What came from a peer.
  void arrived(transport::frame_arrived x);

  /// What is sent goes there. To be called once, before anything else.
  void use(std::shared_ptr<transport::endpoint> x);

  /// Whom processes speak with, before their clients do. It hears what each
  /// said last while there was nobody.
  void bind(reception_actor x);

  /// All processes that have spoken hear that their clients are to say hello:
  /// what they said before was heard by another gateway, or by nobody.
  void bind(gateway_actor x) override;
  std::shared_ptr<transport::endpoint> server_side() override;
  void close() override;

private:
  mutable std::shared_mutex mutex_;
  std::shared_ptr<transport::endpoint> socket_;
  gateway_actor gateway_;
  reception_actor reception_;
  std::set<std::uint64_t> heard_; ///< Links, of those the newest.
  /// By link, of those the newest; for a reception that is not there yet. None
  /// is large: questions are not.
  std::map<std::uint64_t, transport::frame_arrived> early_;
};

using transport::link_of;
using transport::process_of;

class client_socket_hub final : public client_hub {
public:
  /// What came for a client; its peer is the client.
  void arrived(transport::frame_arrived x);

  /// Hears what came for the process itself.
  void listen(std::function<void(const messages::any_message&)> x);

  /// There is a connection again. What was under way is said again after a
  /// hello, and a server that began again knows nobody before it.
  void say_hello();

  /// What is sent goes there. To be called once, before anything else.
  void use(std::shared_ptr<transport::endpoint> x);

  void connect(client_id who, client_actor x) override;
  std::shared_ptr<transport::endpoint> client_side(client_id who) override;
  void close() override;

private:
  mutable std::shared_mutex mutex_;
  std::shared_ptr<transport::endpoint> socket_;
  std::map<peer_id, client_actor> clients_;
  std::function<void(const messages::any_message&)> ear_;
};

} // namespace troupe::actors
