#pragma once

// Who may be told what. Nearly everything is told and not asked: an answer is a
// message of its own, because it may come much later or, after a restart, from
// somebody else. Only merges and commits are requests with a deadline.

#include <memory>

#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "actors/caf/messages.hpp"

namespace troupe::actors {

struct snapshot;

/// Runs arithmetic for others; one per device.
using kernel_worker_actor = caf::typed_actor<
  // Computes what follows from merging a set of offers. An error is final for
  // this request; the same one may be made again.
  caf::replies_to<messages::merge_requested>::with<messages::merge_finished>,
  // Does a client's work on a worker thread. `job_finished` goes to the sender,
  // under a virtual clock at the instant that the job names.
  caf::reacts_to<messages::job_requested>,
  // Scores a fixed set of versions, in zero virtual time.
  caf::replies_to<messages::evaluation_requested>::with<
    messages::evaluation_finished>>;

/// Makes versions and records durable; nobody else writes to disk.
using archivist_actor = caf::typed_actor<
  // Stores a version and its visits in one transaction. An error does not say
  // that nothing was stored; the same request again is safe, another one is
  // not.
  caf::replies_to<messages::commit_requested>::with<
    messages::version_committed>,
  // Stores what the director must not forget.
  caf::replies_to<messages::save_requested>::with<messages::records_saved>,
  // Appends to a file that people and programs read.
  caf::reacts_to<messages::line_noted>>;

/// Tells everybody about new versions: subscribers, the record, the evaluation.
using publisher_actor = caf::typed_actor<
  // Announces a durable version.
  caf::reacts_to<messages::version_published>,
  // The run is over: the last versions are scored, client by client.
  caf::reacts_to<messages::run_finished>>;

/// Collects the offers to one line and turns them into versions.
using aggregator_actor = caf::typed_actor<
  // Makes an offer. The gateway hears `part_answered`: a refusal at once,
  // `accepted` when the version is durable. The director hears `part_taken`.
  caf::reacts_to<messages::part_offered>,
  // Names the visits of a round; the director hears `round_merged`.
  caf::reacts_to<messages::round_closed>,
  caf::reacts_to<messages::clients_admitted>,
  caf::reacts_to<messages::visit_dropped>,
  // The run ends; what is pending is withdrawn.
  caf::reacts_to<messages::line_closing>, caf::reacts_to<messages::state_asked>,
  caf::reacts_to<messages::status_asked>>;

/// Serves the published versions of one line.
using expert_actor =
  caf::typed_actor<caf::reacts_to<messages::version_published>,
                   // Answered to the gateway with `line_served`.
                   caf::reacts_to<messages::serve_requested>,
                   caf::reacts_to<messages::state_asked>>;

/// Knows which lines there are and who keeps them.
using router_actor = caf::typed_actor<
  // Passes a part of an offer to its line, or answers `unknown_expert`.
  caf::reacts_to<messages::part_offered>,
  // Passes a fetch to the line's expert, or has the visit ended.
  caf::reacts_to<messages::serve_requested>,
  // Passed to the line's expert.
  caf::reacts_to<messages::version_published>,
  // Passed to all lines.
  caf::reacts_to<messages::round_closed>,
  caf::reacts_to<messages::clients_admitted>,
  caf::reacts_to<messages::visit_dropped>,
  caf::reacts_to<messages::line_closing>,
  // Passed to all lines and experts.
  caf::reacts_to<messages::state_asked>,
  // Passed to all lines.
  caf::reacts_to<messages::status_asked>>;

/// Who is here: sessions, incarnations, liveness.
using roster_actor = caf::typed_actor<
  caf::reacts_to<messages::hello_heard>, caf::reacts_to<messages::beat_heard>,
  caf::reacts_to<messages::client_left>, caf::reacts_to<messages::state_asked>>;

/// Decides who is invited when, when rounds close, and when the run is over.
using director_actor =
  caf::typed_actor<caf::reacts_to<messages::client_joined>,
                   caf::reacts_to<messages::client_left>,
                   // A part of an offer is kept, or refused.
                   caf::reacts_to<messages::part_taken>,
                   // A visit ended without an offer that counts.
                   caf::reacts_to<messages::visit_failed>,
                   caf::reacts_to<messages::version_published>,
                   caf::reacts_to<messages::round_merged>,
                   caf::reacts_to<messages::line_ended>,
                   caf::reacts_to<messages::line_failed>,
                   caf::reacts_to<messages::evaluation_finished>,
                   caf::reacts_to<messages::stop_requested>,
                   caf::reacts_to<messages::state_asked>,
                   caf::reacts_to<messages::status_asked>>;

/// Speaks frames with clients, and lets nothing through that would spoil a
/// batch.
using gateway_actor =
  caf::typed_actor<caf::reacts_to<messages::frame_arrived>,
                   caf::reacts_to<messages::hello_judged>,
                   caf::reacts_to<messages::invitation_made>,
                   caf::reacts_to<messages::visit_withdrawn>,
                   caf::reacts_to<messages::line_served>,
                   caf::reacts_to<messages::part_answered>,
                   // A hint for all sessions.
                   caf::reacts_to<messages::version_announced>,
                   // Says farewell to all.
                   caf::reacts_to<messages::run_finished>,
                   caf::reacts_to<messages::state_asked>,
                   caf::reacts_to<messages::status_asked>>;

/// A client, at rest until it is invited.
using client_actor = caf::typed_actor<caf::reacts_to<messages::frame_arrived>,
                                      caf::reacts_to<messages::job_finished>,
                                      caf::reacts_to<messages::life_changed>,
                                      caf::reacts_to<messages::state_asked>>;

/// Tells virtual clients when they are there; hears what the run has reached.
using world_actor =
  caf::typed_actor<caf::reacts_to<messages::version_announced>,
                   caf::reacts_to<messages::state_asked>>;

/// The actors of one node, by role. All of them hold this list; it is complete
/// before the first message is sent, and replaced as a whole when they are.
struct cast {
  gateway_actor gateway;
  roster_actor roster;
  director_actor director;
  router_actor router;
  kernel_worker_actor merger;    ///< Merges.
  kernel_worker_actor evaluator; ///< Scores versions.
  archivist_actor archivist;
  publisher_actor publisher;
};

using cast_ptr = std::shared_ptr<const cast>;

} // namespace troupe::actors
