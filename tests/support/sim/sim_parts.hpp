#pragma once

// What a simulated run is made of; only sim_node's own sources look in here.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "actors/client/line_cache.hpp"
#include "tests/support/recipes/two_leg.hpp"
#include "tests/support/sim/hostile.hpp"
#include "tests/support/sim/sim_faulty.hpp"
#include "tests/support/sim/sim_homes.hpp"
#include "tests/support/sim/sim_node.hpp"
#include "tests/support/sim/sim_witness.hpp"

namespace troupe::test {

struct sim_node::parts {
  parts(std::uint64_t seed, const scenario& x, const sim_method& m,
        const faults& active, tally& happened)
    : what(x),
      how(m),
      luck(seed, happened),
      crashes(derive_seed(seed, "crashes")),
      owners(derive_seed(seed, "owners")),
      disks(derive_seed(seed, "disks")),
      keys(derive_seed(seed, "keys")),
      w(seed, x.haste) {
    luck.active = active;
    vault->slow = x.slow_disks;
  }

  scenario what;
  sim_method how;
  std::shared_ptr<const models::layout> blocks;
  offers_made made;
  chances luck;
  random_stream crashes;
  random_stream owners;
  random_stream disks; ///< Of clients.
  random_stream keys;
  progress_of_lines progress;
  std::shared_ptr<sim_store> store;
  std::shared_ptr<sim_audience> watching = std::make_shared<sim_audience>();
  answers_given answers;
  std::shared_ptr<sim_vault> vault = std::make_shared<sim_vault>(answers);
  /// Of those of one process; the others have none.
  std::shared_ptr<actors::line_cache> lines =
    std::make_shared<actors::line_cache>();
  world w;
  std::optional<sim_witness> witness;
  std::unique_ptr<sim_network> network;
  std::unique_ptr<models::trainer> scorer; ///< Of the server, once more.
  std::optional<sim_homes> homes;          ///< Where clients score themselves.
  actors::reception_actor reception;       ///< Likewise.
  actors::node_args args;
  std::uint64_t life = 0; ///< Counts starts of the server.
  caf::actor supervisor;
  std::vector<caf::actor> server;
  actors::cast cast;               ///< Of the server.
  std::vector<caf::actor> proxies; ///< Of all lives of the server.
  actors::kernel_worker_actor worker;
  std::map<client_id, caf::actor> clients;
  conspiracy plot;
  std::set<visit_id> recorded; ///< Of its offers.
  std::vector<std::unique_ptr<hostile>> strangers;
  std::set<client_id> gone; ///< Clients that left, and were not started again.
  std::set<client_id> dead; ///< Those that were killed, and were not either.
};

} // namespace troupe::test
