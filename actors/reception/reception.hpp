#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/interfaces.hpp"
#include "actors/messages/assessment.hpp"
#include "actors/reception/leases.hpp"
#include "actors/transport/endpoint.hpp"
#include "actors/transport/meter.hpp"
#include "actors/transport/refusals.hpp"
#include "core/keys.hpp"
#include "core/result.hpp"

namespace troupe::actors {

/// Who asks for clients.
struct claim {
  leases::owner who{};
  std::uint64_t numbers_max = 0; ///< So many at most.
  /// What its clients with data of their own may be called: one name, the
  /// beginning of names and a *, or * alone.
  std::string names = "*";
};

struct reception_args {
  messages::terms_given terms; ///< But for the nonce.
  leases book;
  /// Makes what was given durable, before it is said. Where that fails nothing
  /// is answered: who has no answer asks again.
  std::function<result<void>(const leases&)> keep;
  std::shared_ptr<transport::endpoint> network;
  /// Told of each process that leaves, and whether it has heard of the end. May
  /// be empty.
  std::function<void(peer_id, messages::parting)> parted = {};
  /// Told of each process that has clients. May be empty.
  std::function<void(peer_id)> came = {};
  /// Told of what a process says of its clients' scores. May be empty.
  std::function<void(messages::scores_heard)> scored = {};
  /// Values of frozen blocks that processes may ask for, by their digest.
  std::map<std::array<std::uint8_t, 32>, shared_values> frozen = {};
  /// Whose clients a peer's are; an error: it may have none. Empty: they are of
  /// whom it says it is, since nobody has a key. While it is `unavailable`, as
  /// the next one, nothing is answered: who has no answer asks again.
  std::function<result<claim>(peer_id)> claim_of = {};
  /// With keys: makes one known by the invitation that a peer came with. While
  /// that is a `storage_failure`, too, nothing is answered: it is not stored.
  std::function<result<void>(peer_id, const public_key&)> enrol = {};
  std::shared_ptr<transport::refusals> refused =
    std::make_shared<transport::refusals>();
  /// For people, on who has no answer: once, and once when that is over. May be
  /// empty.
  std::function<void(const std::string& line)> say = {};
};

struct reception_state {
  static inline constexpr const char* name = "reception";

  reception_args args;
  transport::meters asked{limits::questions_per_second}; ///< By link.
  /// For what nobody has an answer now, and what of it fails.
  std::map<std::string, std::string> stuck;
  bool looks_again = false; ///< A look is under way.
  /// With the last place that is not stored; there while places are stuck.
  std::optional<leases> unkept = {};
  std::string thrown; ///< Last, while somebody was answered.
};

using reception_impl = reception_actor::extend<caf::reacts_to<caf::tick_atom>>;

/// Says what the run is, and which clients a process has.
reception_impl::behavior_type
reception(reception_impl::stateful_pointer<reception_state> self,
          reception_args args);

} // namespace troupe::actors
