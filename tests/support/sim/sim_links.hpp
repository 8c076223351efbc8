#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/client/socket_hubs.hpp"
#include "actors/transport/places.hpp"
#include "actors/transport/silence.hpp"
#include "tests/support/sim/faults.hpp"
#include "tests/support/sim/link_laws.hpp"
#include "tests/support/world.hpp"

namespace troupe::test {

/// Processes with clients, each with one link to the node: the twins of
/// actors/transport under production's hubs, over connections that are cut at
/// any piece and forgotten. It stands where a socket's thread does.
///
///   client ─► way up ─► link_end ═ pieces ═► places ─► hub ─► gateway
///   client ◄─ hub ◄─ link_end ◄═ pieces ═ link_end ◄─ way down ◄─ gateway
class sim_links {
public:
  struct options {
    std::uint64_t seed = 1;
    std::uint64_t processes = 1;
    std::shared_ptr<transport::endpoint> server; ///< By which hubs greet.
    std::function<void(client_id, const transport::frame&)> server_hears;
    /// What comes for a process itself.
    std::function<void(std::uint64_t process, const messages::any_message&)>
      process_hears;
  };

  /// Takes a message, now or later; if those who were there are gone by then,
  /// it is lost.
  using way = std::function<void(const messages::any_message&)>;

  sim_links(world& w, chances& luck, options x);
  ~sim_links();

  way up(client_id from);
  way up_of_process(std::uint64_t number);
  way down(peer_id to);

  void bind(actors::gateway_actor x);
  void bind(actors::reception_actor x);
  void connect(client_id who, actors::client_actor x);

  /// A client's process is there from now on, if it was not.
  void begin(client_id who);

  /// Those that it has are gone.
  void process_died(client_id who);
  void server_died();

  /// Whether one process has both.
  bool are_together(client_id a, client_id b) const;
  bool has(std::uint64_t process, client_id who) const;

  /// Of a process: which memory it is, whether it is there, and how often it
  /// has dialled.
  std::uint64_t life_of(std::uint64_t number) const;
  bool is_there(std::uint64_t number) const;
  std::uint32_t dialled(std::uint64_t number) const;

  /// As the server knows them: who has a connection, and who said anything so
  /// lately.
  std::set<peer_id> here();
  std::set<peer_id> spoke(instant lately);

  void close();

  /// What was taken has come, if the world was kind for a while.
  void check_end();

private:
  struct wire {
    transport::piece_head head;
    transport::buffer body;
  };

  /// Closed: both sides may know. Vanished: nobody does, and nothing comes.
  enum class standing : std::uint8_t { open, closed, vanished };

  struct connection {
    std::uint64_t process = 0;
    std::uint64_t life = 0;
    standing how = standing::open;
    instant delay{};
    std::deque<wire> up = {}; ///< Under way.
    std::deque<wire> down = {};
    std::array<bool, 2> had_chunks = {}; ///< Down, up.
    std::array<bool, 2> had_losses = {}; ///< Likewise.
  };

  struct process {
    std::uint64_t life = 0;     ///< Even: it is not there.
    std::uint64_t instance = 0; ///< Of its end.
    std::optional<transport::link_end> end = {};
    std::shared_ptr<actors::client_socket_hub> hub = {};
    std::optional<link_laws> laws = {};
    std::optional<transport::silence> silence = {};
    std::uint32_t dialled = 0;
    std::string route = {}; ///< Of its connection; empty: none.

    bool is_there() const noexcept {
      return life % 2 == 1;
    }
  };

  struct sizes {
    std::size_t frame_bytes_max;
    std::size_t chunk_bytes;
    std::uint64_t window_bytes;
    std::uint64_t room_bytes;
  };

  way up_from(std::uint64_t number, transport::channel_id to);
  static sizes drawn_sizes(random_stream& draw);
  std::uint64_t number_of(client_id who) const;
  process& process_of(client_id who);
  transport::link_end::options
  options_of(std::uint64_t instance,
             std::shared_ptr<transport::held_bytes> room) const;
  std::shared_ptr<transport::held_bytes> make_room();
  void open_places();
  link_laws& laws_of(std::uint64_t place);

  void ring();
  void tick();
  void work();
  void count_waiting(const transport::link_end& x);
  void send_some(process& x);
  void send_some(transport::place& x);
  bool put(const std::string& route, bool up, const transport::piece& x);
  void give_up(transport::place& x);

  void dial(std::uint64_t number, std::uint64_t life);
  void dial_later(std::uint64_t number);
  void cut(const std::string& route);
  void lose(connection& x, bool up, const std::string& route);
  void hang_up(process& x);
  void deliver(const std::string& route, bool up);
  void hear(const std::string& route, const connection& on, bool up,
            const wire& x);
  void server_hears(const std::string& route, const transport::piece& x);
  void process_hears(process& x, const transport::piece& y);
  void ends_silence();
  void makes_room();

  world& world_;
  chances& luck_;
  options options_;
  random_stream draw_;
  sizes sizes_;
  std::shared_ptr<transport::landing_pool> landing_ =
    std::make_shared<transport::landing_pool>(1 << 20);
  /// Rings as long as there is something to wake.
  std::shared_ptr<sim_links*> bell_ = std::make_shared<sim_links*>(this);
  bool rung_ = false;
  std::vector<process> processes_; ///< By number.
  std::map<std::string, connection> connections_;

  std::uint64_t server_life_ = 0;
  std::uint64_t server_instance_ = 0;
  std::shared_ptr<actors::server_socket_hub> hub_;
  actors::reception_actor reception_; ///< Null: processes ask nothing.
  std::shared_ptr<transport::held_bytes> room_;
  std::optional<transport::places> places_;
  std::map<std::uint64_t, link_laws> laws_; ///< Of those.
  std::uint64_t pieces_ = 0;
};

} // namespace troupe::test
