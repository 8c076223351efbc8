#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/client/client_file.hpp"
#include "actors/wiring.hpp"
#include "tests/support/sim/faults.hpp"
#include "tests/support/sim/sim_network.hpp"
#include "tests/support/sim/sim_store.hpp"
#include "tests/support/sim/sim_work.hpp"
#include "tests/support/world.hpp"

namespace troupe::test {

/// What a scenario is; a seed draws all of it.
struct scenario {
  pace_kind mode = pace_kind::fedbuff;
  state_rule state = state_rule::on_offer;
  std::uint64_t clients = 12;
  std::uint64_t versions = 8; ///< Of the lead line, or rounds.
  std::size_t buffer_size = 4;
  std::uint32_t concurrency = 6;
  bool refill_by_version = false;
  std::uint64_t staleness_max = 3;
  std::size_t pending_max = 8;
  bool target_is_model = false;
  instant resend_after = std::chrono::seconds{1}; ///< Of the clients.
  instant silence_max{}; ///< After which a client is lost; 0: never.
  instant visit_timeout = std::chrono::seconds{60};
  bool slow_disks = false; ///< Clients wait until what they keep is kept.
  bool clock_anew = false; ///< A node that was crashed counts time from zero.
  double haste = 0;        ///< How often a timer overtakes mail.
  double over_selection = 1.3;
  std::uint32_t quorum = 2;
  bool spools = false;  ///< Offers beyond `values_bytes_max` wait on disk.
  bool durable = false; ///< All do, and a node finds those of the one before.
  std::uint64_t values_bytes_max = 0;
  std::uint64_t processes = 0; ///< That have the clients; 0: it is the node's.
  bool scored_at_home = false; ///< Those are asked what versions are worth.
  std::uint64_t hostile = 0;   ///< Peers that mean harm, beside the clients.
  std::size_t client_most = ~std::size_t{0};
  bool events = false;
  bool asks = false;     ///< A visit has two experts at most, and says which.
  bool finishes = false; ///< Its recipe has last visits.
  /// As production has it: a run that comes to nothing ends, and who comes to
  /// nothing is asked again after a second, and then later.
  bool as_in_production = false;
};

/// What is simulated: a recipe, and a trainer that plays it on quadratics.
struct sim_method {
  using trainer_maker =
    std::function<std::unique_ptr<models::trainer>(const models::layout&)>;

  recipe what;
  std::map<std::string, models::tensor_list> shapes;
  trainer_maker make_trainer;
  /// Version 0 of a block; null: zeros.
  std::function<std::vector<float>(const models::block_layout&)> initial = {};
  /// Whether the lead block is to end near `optimum_of`.
  bool lead_is_pulled = true;
};

/// Two legs, a group, experts: all that the runtime carries, in one recipe.
sim_method two_leg_method(const scenario& x);

/// The whole of a run in one world: the production actors as actors/wiring
/// makes them, over a network, workers, an archivist and clients that fail.
class sim_node {
public:
  sim_node(std::uint64_t seed, const scenario& what, const faults& active,
           tally& happened);

  /// @param sees is told of every message as well
  sim_node(std::uint64_t seed, const scenario& what, const sim_method& method,
           const faults& active, tally& happened,
           sim_network::witness sees = {});
  ~sim_node();

  /// Takes one step. Returns false when nothing is left to happen.
  bool step();

  /// From now on the world is kind.
  void heal();

  bool finished() const;
  bool failed() const;
  std::string reason() const;
  std::uint64_t trace() const;
  instant now();
  const models::layout& blocks() const;
  const sim_store& store() const;
  std::map<client_id, actors::state_ptr> states() const;

  /// What the server's actors hold, as a snapshot would have it. Time goes on.
  std::size_t state_bytes();

  /// Of events.jsonl.
  std::uint64_t lines_noted() const;

  /// Checked at the end of a run that finished.
  void check_end();

private:
  struct parts;

  void open_store();
  void ask_at_home(std::uint64_t seed);
  static void read_note(parts& p, const std::string& text);
  actors::node_args args_of(std::uint64_t seed);
  void start_server();
  void start_client(client_id who);
  void start_strangers(std::uint64_t seed);
  void crash_something();
  void change_key();
  static void count_ticket(parts& p, const messages::any_message& x);
  void crash_server();
  void crash_actor();
  void crash_client();
  void crash_process();
  /// @returns whether it is started again only later
  bool kill_client(client_id who);
  void leave_or_come();
  void live(client_id who, policies::life_event what);
  void check_mail();
  void check_last_visits();

  std::unique_ptr<parts> p_;
};

} // namespace troupe::test
