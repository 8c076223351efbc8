#pragma once

// The lines of events.jsonl: one JSON object each, with `at` (seconds of the
// run) and `event`. What stands here is what a replay needs, so its keys are an
// interface; docs/run_folder.md lists them. event_reader.hpp reads them again.

#include <cstdint>
#include <string>
#include <string_view>

#include "actors/messages/internal.hpp"
#include "actors/record/names.hpp"
#include "core/clock.hpp"
#include "policies/invitations.hpp"

namespace troupe::actors {

/// A process works on the run from here on.
struct process_began {
  std::string fingerprint; ///< What the bits of training depend on.
};

std::string event_of(const process_began& x, instant at);
std::string event_of(const messages::clients_admitted& x, instant at);
std::string event_of(const messages::invitation_made& x, instant at);
std::string event_of(const messages::visit_withdrawn& x, instant at);
std::string event_of(const messages::visit_failed& x, instant at);

/// @param discloses_soundly what it discloses is as the recipe declares it, and
/// so bounded; else it is left out
std::string event_of(const messages::offer_made& x, instant at,
                     bool discloses_soundly);

std::string event_of(const messages::part_answered& x, instant at);
std::string event_of(const messages::line_served& x, instant at);
std::string event_of(const messages::round_closed& x, instant at);
std::string event_of(const messages::commit_requested& x, instant at);
std::string event_of(const messages::run_finished& x, instant at);
std::string event_of(const policies::skip& x, instant at);
std::string event_of(const messages::client_began_anew& x, instant at);

/// @pre it is left alone
std::string event_of(const messages::client_failed& x, instant at);

/// Of all that an offer says beside its ticket, as 16 hex digits. Differs where
/// a bit does; it is no protection from somebody who wants it not to.
std::string checksum_of(const messages::offer_made& x);

} // namespace troupe::actors
