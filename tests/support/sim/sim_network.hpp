#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "actors/interfaces.hpp"
#include "actors/transport/endpoint.hpp"
#include "tests/support/sim/faults.hpp"
#include "tests/support/sim/sim_links.hpp"
#include "tests/support/world.hpp"

namespace troupe::test {

/// Frames as bytes, over a network that loses, doubles, delays, damages and
/// cuts; or over links, which damage nothing.
class sim_network {
public:
  /// Sees what is said before anything happens to it.
  struct witness {
    std::function<void(client_id to, const messages::any_message&)> server_said;
    std::function<void(client_id from, const messages::any_message&)>
      client_said;
    /// What reached the server whole.
    std::function<void(client_id from, const messages::any_message&)>
      server_heard;
    /// Of processes, where there are any: what one is asked as it leaves, and
    /// as it arrives.
    std::function<void(peer_id process, const messages::any_message&)>
      process_asked = {};
    std::function<void(std::uint64_t process, const messages::any_message&)>
      process_heard = {};
  };

  sim_network(world& w, chances& luck, witness sees)
    : world_(w),
      luck_(luck),
      sees_(std::move(sees)) {
    // nop
  }

  /// From now on what gets through goes over links between processes.
  void use_links(std::uint64_t seed, std::uint64_t processes);

  /// Visits choose some of these, and say which: so there are requests and
  /// grants to be forged.
  void use_requests(std::vector<line_id> experts) {
    experts_ = std::move(experts);
  }

  /// Null: clients are in the node's own process.
  sim_links* links() noexcept {
    return links_.get();
  }

  void bind(actors::gateway_actor x);
  void connect(client_id who, actors::client_actor x);

  /// A peer that is no client of ours, and hears what a server tells it.
  void connect(client_id who,
               std::function<void(const messages::any_message&)> ears) {
    strangers_[who] = std::move(ears);
  }

  /// Bytes of a stranger, as they are.
  void inject(client_id from, transport::buffer bytes);

  void close();

  std::shared_ptr<transport::endpoint> server_side();
  std::shared_ptr<transport::endpoint> client_side(client_id who);

private:
  class end;

  void pass_on(const messages::any_message& x, client_id peer, bool up,
               peer_id to);

  /// @param to of what goes down
  void carry(messages::any_message x, client_id peer, bool up, peer_id to);
  instant drawn_delay();
  void say(const messages::any_message& x, client_id peer, bool up, peer_id to);
  void send(transport::buffer bytes, client_id peer, bool up);
  void forge(messages::any_message& x, client_id from);
  messages::any_message forged(messages::offer_made x);
  messages::any_message forged(messages::fetch_requested x);
  std::optional<messages::any_message>
  forged_beside(const messages::any_message& x, client_id to);
  void deliver(transport::frame x, client_id peer, bool up);
  bool is_cut(client_id peer, bool up);

  world& world_;
  chances& luck_;
  witness sees_;
  std::unique_ptr<sim_links> links_;
  actors::gateway_actor gateway_;
  std::map<client_id, actors::client_actor> clients_;
  std::map<client_id, std::function<void(const messages::any_message&)>>
    strangers_;
  std::map<std::pair<client_id, bool>, instant> cut_until_;
  std::vector<line_id> experts_;
  std::map<client_id, std::set<line_id>> asked_for_; ///< By its last wish.
};

} // namespace troupe::test
