#pragma once

// What the director must not forget, and what the store gives back of it.

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "actors/messages/ticket.hpp"
#include "core/ids.hpp"
#include "policies/pacing.hpp"

namespace troupe::messages {

struct closed_visit {
  visit_id visit{};
  std::vector<line_id> lines;

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit.client, x.visit.number, x.lines);
  }
};

/// What is known of a client for ever: it was admitted, with so many examples,
/// and numbers up to `numbers_upto` may have been given to it. How it has fared
/// is from when its numbers, or a round of its, were last saved.
struct client_record {
  client_id client{};
  std::uint64_t examples = 0;
  std::uint64_t numbers_upto = 0;
  std::uint64_t times_chosen = 0;
  std::optional<double> loss = {}; ///< Of its last visit.

  static constexpr auto fields(auto& x) {
    return std::tie(x.client, x.examples, x.numbers_upto, x.times_chosen,
                    x.loss);
  }
};

/// Where a synchronous or windowed run stands.
struct round_record {
  round_number round{};
  std::uint8_t closed = 0;         ///< 1: `visits` is the list that is merged.
  std::vector<ticket> cohort = {}; ///< Invited to this round.
  std::vector<closed_visit> visits = {};

  static constexpr auto fields(auto& x) {
    return std::tie(x.round, x.closed, x.cohort, x.visits);
  }
};

/// Why a run has come to its last visits.
enum class course_end : std::uint8_t { none, length, target, patience };

/// Director to archivist. Absent parts stay as they are stored.
struct save_requested {
  std::uint64_t token = 0;
  std::vector<client_record> clients;
  std::uint64_t index_upto = 0; ///< Invitation indices that may have been used.
  std::optional<round_record> round;
  std::optional<policies::stopper_state> stopper = {};
  course_end end = course_end::none;      ///< None: as it is stored.
  std::vector<visit_id> last_visits = {}; ///< That are over.
};

struct records_saved {
  std::uint64_t token = 0;
};

} // namespace troupe::messages
