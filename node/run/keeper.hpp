#pragma once

// Keeps all offers of a run, where its configuration says so. A full disk ends
// no run: under a simulation time stands still until there is room, and under
// the wall clock the client is told to say its offer again, while its server
// goes on with what needs no disk.

#include <cstdint>
#include <filesystem>
#include <functional>

#include "actors/messages/offer.hpp"
#include "core/result.hpp"
#include "node/config/experiment.hpp"
#include "node/run/patient_store.hpp"

namespace troupe::node {

/// Keeps an offer, with the examples of its client.
using offer_keeper =
  std::function<result<void>(const messages::offer_made&, std::uint64_t)>;

/// The same for a gateway: false where its client is to say it again.
using patient_keeper =
  std::function<bool(const messages::offer_made&, std::uint64_t)>;

/// Keeps offers in a run's folder, if the configuration says so; empty if not.
offer_keeper keeper_in(const experiment& x,
                       const std::filesystem::path& folder);

/// Tries again in the call itself, for as long as `goes_on` says so.
patient_keeper waits_for_room(offer_keeper keeps,
                              patient_store::patience goes_on);

/// Leaves it to the client. `told` hears of each refusal of the disk, and of
/// nothing when there is room again.
patient_keeper leaves_it_to_clients(offer_keeper keeps,
                                    std::function<void(const error*)> told);

} // namespace troupe::node
