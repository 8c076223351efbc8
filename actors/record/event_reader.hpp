#pragma once

// Reads the lines of events.jsonl: those that say what a run computed.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "actors/record/events.hpp"
#include "core/result.hpp"

namespace troupe::actors {

struct offer_recorded {
  visit_id visit;
  std::string checksum;
};

struct version_recorded {
  line_id line;
  version head;
  std::vector<visit_id> merged;
  std::vector<std::string> digests; ///< Of the line's blocks, in their order.
  std::uint64_t clients = 0;        ///< That a sum was divided by; 0: none was.
  round_number round{};             ///< That made it, where there are rounds.
};

struct round_recorded {
  round_number round;
  std::vector<visit_id> visits; ///< That its versions may hold.
  /// Of these visits, where it does not name all.
  std::vector<std::pair<visit_id, line_id>> parts = {};
};

struct end_recorded {
  std::string reason;
  std::map<line_id, version> heads; ///< Of lines that it names.
};

/// What is read of an event where a replay has no use for it.
struct other_event {};

using recorded_event =
  std::variant<other_event, process_began, messages::clients_admitted,
               messages::invitation_made, messages::line_served, offer_recorded,
               messages::visit_withdrawn, messages::visit_failed,
               messages::part_answered, messages::client_began_anew,
               version_recorded, round_recorded, end_recorded>;

/// Messages hold what the line says of them, and defaults. Returns
/// `invalid_data` that says what was found and what would do; the caller knows
/// where.
[[nodiscard]] result<recorded_event> read_event(std::string_view line);

} // namespace troupe::actors
