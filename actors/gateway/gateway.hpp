#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/gateway/grants.hpp"
#include "actors/gateway/round_trips.hpp"
#include "actors/gateway/screen.hpp"
#include "actors/gateway/seal.hpp"
#include "actors/gateway/sessions.hpp"
#include "actors/gateway/traffic.hpp"
#include "actors/interfaces.hpp"
#include "actors/metrics/status.hpp"
#include "actors/transport/endpoint.hpp"
#include "actors/transport/refusals.hpp"

namespace troupe::actors {

/// Processes with clients. Empty: clients are of this one.
struct processes_elsewhere {
  std::function<peer_id(peer_id)> of = {};      ///< Of a client's peer.
  std::function<std::set<peer_id>()> here = {}; ///< Those that are connected.
  /// Those of which anything was heard within so long. Empty: it isn't known.
  std::function<std::set<peer_id>(instant lately)> spoke = {};
};

struct gateway_args {
  std::shared_ptr<transport::endpoint> network;
  std::shared_ptr<traffic> counted;
  std::shared_ptr<const models::layout> blocks;
  const recipe* method = nullptr;
  screening_rules rules;
  /// Whether a peer may say hello as a client; nothing: it shows when it says
  /// hello again. Empty: whoever is there may.
  std::function<std::optional<bool>(peer_id, client_id)> may_speak = {};
  processes_elsewhere processes = {};
  std::shared_ptr<transport::refusals> refused = {}; ///< Null: not counted.
  seal::key key{};
  /// Go by that key unless they have others.
  std::shared_ptr<seals> tickets = std::make_shared<seals>();
  cast_ptr others;
  caf::actor_clock::time_point started;  ///< The run's instant zero.
  std::map<line_id, version> found = {}; ///< Which versions it began with.
  std::set<visit_id> arrived = {};       ///< Offers that another process took.
  /// Told of each offer that is screened, the first time. May be empty.
  std::function<void(visit_id, double loss)> offered = {};
  /// Given the same whole, before the record names it, with the examples of its
  /// client. False: it could not be kept, and is to be said again. May be
  /// empty.
  std::function<bool(const messages::offer_made&, std::uint64_t examples)>
    keeps = {};
  bool announce = false; ///< Passes hints about new versions to all sessions.
  bool events = false;   ///< Notes what clients hear and say.
  bool outlived = false; ///< By clients, when this process is killed.
  /// Who is silent is lost: all that a client says counts, and not its beats
  /// alone.
  bool silence_counts = false;
  std::shared_ptr<const snapshot> resumed = {}; ///< Goes on from this.
};

struct gateway_state {
  static inline constexpr const char* name = "gateway";

  gateway_args args;
  std::optional<grants> granted; // Set before the first message arrives.
  sessions peers;
  verdict_counts refusals{}; ///< Of visits, and of what has no ticket.
  bool has_load = false;     ///< Experts, or disclosures.
  round_trips trips;
  std::optional<messages::run_finished> over; ///< Whoever comes hears of it.

  door_status status(std::uint64_t mailbox) const {
    return {.sessions = peers.all().size(),
            .refusals = refusals,
            .round_trips = trips.taken(),
            .mailbox = mailbox};
  }
};

/// The only actor that speaks with clients: opens frames, checks sessions,
/// tickets and offers, and passes on what is sound. It keeps nothing for
/// anybody.
gateway_actor::behavior_type
gateway(gateway_actor::stateful_pointer<gateway_state> self, gateway_args args);

} // namespace troupe::actors
