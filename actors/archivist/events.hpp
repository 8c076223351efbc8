#pragma once

// The lines of events.jsonl: one JSON object each, with `at` (seconds of the
// run) and `event`. What stands here is what a replay needs, so its keys are an
// interface; docs/run_folder.md lists them.

#include <string>

#include "actors/messages/internal.hpp"
#include "core/clock.hpp"
#include "policies/rota.hpp"

namespace troupe::actors {

std::string event_of(const messages::invitation_made& x, instant at);
std::string event_of(const messages::visit_withdrawn& x, instant at);
std::string event_of(const messages::visit_failed& x, instant at);
std::string event_of(const messages::part_taken& x, instant at);
std::string event_of(const messages::line_served& x, instant at);
std::string event_of(const messages::round_closed& x, instant at);
std::string event_of(const messages::version_published& x, instant at);
std::string event_of(const messages::run_finished& x, instant at);
std::string event_of(const policies::skip& x, instant at);

} // namespace troupe::actors
