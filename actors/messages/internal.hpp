#pragma once

// Messages that never leave the process: they have no wire schema. They are
// grouped by who speaks; actors/interfaces.hpp says what each asks for.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/messages/records.hpp"
#include "actors/messages/wire.hpp"
#include "core/ids.hpp"
#include "core/offered_block.hpp"
#include "core/recipe.hpp"
#include "kernels/backend.hpp"
#include "models/layout.hpp"
#include "models/trainer.hpp"
#include "policies/admission.hpp"
#include "policies/presence.hpp"

namespace troupe::actors {
class snapshot_draft;
class status_draft;
} // namespace troupe::actors

namespace troupe::messages {

// -- gateway and the lines ----------------------------------------------------

/// One visit's offer to one line: all blocks of its group, on one base.
struct part_offered {
  visit_id visit;
  line_id line;
  std::uint32_t lines_total = 1; ///< To how many lines the visit offers.
  round_number round;
  version base;
  std::vector<offered_block> blocks;
  double loss = 0;
  bool late = false; ///< Its ticket has expired: only what is kept is merged.

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit.client, x.visit.number, x.line, x.lines_total,
                    x.round, x.base, x.blocks, x.loss, x.late);
  }
};

/// Whether they are on disk.
inline bool is_without_values(const part_offered& x) {
  return std::ranges::any_of(x.blocks,
                             [](const auto& y) { return y.delta == nullptr; });
}

/// To the gateway, for the client.
struct part_answered {
  visit_id visit;
  line_id line;
  policies::verdict verdict{};
  version head;
};

/// To the gateway, for the client: its part waits to be merged.
struct part_held {
  visit_id visit;
  line_id line;
  bool durable = false; ///< Also after the end of this process.
};

/// To the director: the part is kept (`accepted`) or refused.
struct part_taken {
  visit_id visit;
  line_id line;
  std::uint32_t lines_total = 1;
  policies::verdict verdict{};
  double loss = 0;
  bool on_disk = false; ///< Its values take no memory.
};

struct serve_requested {
  visit_id visit;
  std::uint32_t leg = 0;
  want wanted;
  round_number cut;
};

// -- merging ------------------------------------------------------------------

/// Without `delta` the values are on disk.
struct merge_term : offered_block {
  double discount = 1;
  visit_id visit = {};
};

/// A set of offers to one block: their order is of no consequence.
struct block_merge {
  block_id block;
  merge_rule rule;
  shared_values base;
  shared_moments moments;
  std::vector<merge_term> terms; ///< Sorted by visit.
  kernels::grid grid;
  /// One offer makes a version: its share says how far to go, since there is
  /// nothing that it could be a share of.
  bool alone = false;
};

struct merge_requested {
  line_id line;
  version base;
  std::vector<block_merge> blocks;
  kernels::server_step step;
  std::uint64_t admitted = 1; ///< N of `sum_over`: clients ever admitted.
};

/// Whoever reads versions and does not merge into them has no moments.
struct merged_block {
  block_id block;
  shared_values values;
  shared_moments moments;
  models::digest digest{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.block, x.values, x.moments, x.digest);
  }
};

inline std::vector<merged_block> without_moments(std::vector<merged_block> x) {
  for (auto& block : x)
    block.moments = {};
  return x;
}

struct merge_finished {
  line_id line;
  version base;
  std::vector<merged_block> blocks;
};

/// Asks for one transaction: the version, and the visits that it merged.
struct commit_requested {
  line_id line;
  version head; ///< The next after the durable one.
  round_number round;
  std::vector<merged_block> blocks;
  std::vector<visit_id> merged; ///< Sorted.
  /// The N that a sum over all clients was divided by; 0: there is none.
  std::uint64_t admitted = 0;
};

struct version_committed {
  line_id line;
  version head;
};

struct version_published {
  line_id line;
  version head;
  round_number round;
  std::vector<merged_block> blocks;
  std::vector<visit_id> merged;

  static constexpr auto fields(auto& x) {
    return std::tie(x.line, x.head, x.round, x.blocks, x.merged);
  }
};

/// Asks the store for an older version than the memory holds: this one or, if
/// it names none, the newest that is not after `cut`.
struct version_wanted {
  line_id line;
  version exact = no_version;
  round_number cut{};
};

struct version_read {
  std::optional<version_published> found; ///< Nothing: it is gone.
};

// -- rounds -------------------------------------------------------------------

/// Every line merges exactly its part of the list, possibly nothing, and
/// withdraws what else it holds of this round or, under `sync`, of an earlier
/// one.
struct round_closed {
  round_number round;
  std::vector<closed_visit> visits;
  bool keep_late = false; ///< semisync: what is not listed waits for the next.
  bool again = false;     ///< By another process, or shorter than it was.

  static constexpr auto fields(auto& x) {
    return std::tie(x.round, x.visits, x.keep_late, x.again);
  }
};

struct round_merged {
  line_id line;
  round_number round;
  version head;
};

/// A round or window is over of which something came.
struct round_counted {
  std::uint64_t rounds = 0;  ///< Of the run's length, with this one.
  bool is_of_visits = false; ///< There are none: see `course::options::batch`.
};

/// The run ends: what is pending is withdrawn, what is being merged is
/// committed.
struct line_closing {};

/// The line has ended: there will be no version after this one.
struct line_ended {
  line_id line;
  version head;
};

/// Its offers cannot be merged any more: the run cannot go on.
struct line_failed {
  line_id line;
  std::string problem;
};

/// How many clients were ever admitted.
struct clients_admitted {
  std::uint64_t count = 0;
};

/// No list will name it: its parts that are pending are withdrawn.
struct visit_dropped {
  visit_id visit;
};

// -- roster, director, gateway ------------------------------------------------

/// Gateway to roster: somebody said hello.
struct hello_heard {
  peer_id peer;
  hello what;
};

/// Roster to gateway: who it is, or why not.
struct hello_judged {
  peer_id peer;
  hello what;
  session_id session; ///< Unless refused.
  std::optional<farewell_reason> refusal;
  std::string text;
  std::uint64_t newest = 0; ///< As in `farewell`.
};

struct beat_heard {
  client_id client;
};

struct client_joined {
  client_id client;
  std::uint64_t examples = 0;
  visit_number last = hello::not_said; ///< The newest that it remembers.
  std::optional<ticket> open = {};     ///< It is at work on this.
};

/// It came back without what it had kept.
struct client_began_anew {
  client_id client;
};

struct client_left {
  client_id client;
  /// It said so, and drops what it was working on. Else it was silent for too
  /// long, and may come back with its work.
  bool said = false;
};

/// Director to gateway: seal the ticket and send it.
struct invitation_made {
  ticket pass;
  bool earlier = false; ///< From before a restart of the server.
};

struct visit_withdrawn {
  visit_id visit;
  policies::verdict why = policies::verdict::withdrawn;
};

/// Gateway to director: a visit ended without an offer that counts.
struct visit_failed {
  visit_id visit;
  std::variant<decline_reason, policies::verdict> why;

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit, x.why);
  }
};

/// A client's visit failed, and so did `failures` in a row.
struct client_failed {
  visit_failed last;
  std::uint32_t failures = 0;
  std::optional<instant> alone_until = {}; ///< It is not invited before.
};

/// To a virtual client, by the world that it lives in.
struct life_changed {
  policies::life_event what;
};

// -- jobs ---------------------------------------------------------------------

struct choose_job {
  models::visit_input input;

  static constexpr auto fields(auto& x) {
    return std::tie(x.input);
  }
};

struct train_job {
  models::visit_input input;

  static constexpr auto fields(auto& x) {
    return std::tie(x.input);
  }
};

/// Work for the client that sends this, finished at `due` under a virtual
/// clock.
struct job_requested {
  client_id client;
  visit_id visit;
  instant due{};
  std::variant<choose_job, train_job> what;
};

struct job_finished {
  visit_id visit;
  std::variant<error, models::choice, models::trained> outcome;
};

struct evaluation_requested {
  line_id line; ///< Whose version was the occasion.
  version head;
  models::evaluation_input input;
};

struct evaluation_finished {
  line_id line;
  version head;
  models::evaluated scores;
  std::optional<error> problem;
  /// Where clients score themselves: how many were here to be asked.
  std::optional<std::uint64_t> asked = {};
  std::uint64_t rounds = 0; ///< That are over, where no version ever comes.

  /// Of one without a problem, and of clients of this process.
  static constexpr auto fields(auto& x) {
    return std::tie(x.line, x.head, x.scores);
  }
};

// -- archivist ----------------------------------------------------------------

/// One line of events.jsonl or metrics.jsonl.
struct line_noted {
  enum class file : std::uint8_t { events, metrics } where = file::events;
  std::string text;
};

/// Between two instants of a virtual clock: who hears this adds its state.
struct state_asked {
  std::shared_ptr<actors::snapshot_draft> draft;
};

/// Who hears this adds where it stands, and does nothing else.
struct status_asked {
  std::shared_ptr<actors::status_draft> draft;
};

/// Ends the run in order: what is being merged is committed.
struct stop_requested {
  std::string reason;
};

/// The run is over. The reason is for people.
struct run_finished {
  std::string reason;
  bool failed = false;
  std::map<line_id, version> heads = {}; ///< Where the lines stand for good.
  std::uint64_t rounds = 0;              ///< As the last `round_counted` said.
  course_end end = course_end::none;     ///< None: somebody or an error did it.
};

} // namespace troupe::messages
