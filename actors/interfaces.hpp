#pragma once

// Who may be told what. Nearly everything is told and not asked: an answer is a
// message of its own, because it may come much later or, after a restart, from
// somebody else. Only merges, commits, saves and
// evaluations are requests, each with a deadline.

#include <memory>

#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "actors/caf/messages.hpp"
#include "core/assert.hpp"

namespace troupe::actors {

struct snapshot;

/// Whoever keeps state that a run goes on from.
using snapshot_source = caf::typed_actor<
  // Adds its state to the draft, or refuses where it is not at rest.
  caf::reacts_to<messages::state_asked>>;

/// Whoever can say how the run goes.
using status_source = caf::typed_actor<
  // Adds where it stands to the draft, and does nothing else.
  caf::reacts_to<messages::status_asked>>;

/// Merges, with a backend of its own.
using merger_actor = caf::typed_actor<
  // Computes what follows from merging a set of offers. An error is final for
  // this request; the same one may be made again.
  caf::replies_to<messages::merge_requested>::with<messages::merge_finished>>::
  extend_with<status_source>;

/// Scores versions, with a trainer of its own.
using evaluator_actor = caf::typed_actor<
  // Scores a fixed set of versions, in zero virtual time.
  caf::replies_to<messages::evaluation_requested>::with<
    messages::evaluation_finished>>::extend_with<status_source>;

/// The same where clients are elsewhere: they score themselves, and it asks.
using assessor_actor = evaluator_actor::extend<
  // A process says what versions are worth to its clients.
  caf::reacts_to<messages::scores_heard>>;

/// Does the work of the clients that are at home here.
using kernel_worker_actor = caf::typed_actor<
  // Does a client's work on a worker thread. `job_finished` goes to the sender,
  // under a virtual clock at the instant that the job names.
  caf::reacts_to<messages::job_requested>>::extend_with<status_source>;

/// Makes versions and records durable; nobody else writes to disk.
using archivist_actor = caf::typed_actor<
  // Stores a version and its visits in one transaction. An error does not say
  // that nothing was stored; the same request again is safe, another one is
  // not.
  caf::replies_to<messages::commit_requested>::with<
    messages::version_committed>,
  // Stores what the director must not forget.
  caf::replies_to<messages::save_requested>::with<messages::records_saved>,
  // Reads an older version than those that its line holds in memory.
  caf::replies_to<messages::version_wanted>::with<messages::version_read>,
  // Keeps a part of an offer until it is dropped. An error does not say that
  // it is not there.
  caf::replies_to<messages::keep_requested>::with<messages::part_kept>,
  // Drops parts that are merged or refused.
  caf::replies_to<messages::drop_requested>::with<messages::parts_dropped>,
  // Reads a part that is kept.
  caf::replies_to<messages::part_wanted>::with<messages::part_offered>,
  // Appends to a file that people and programs read.
  caf::reacts_to<messages::line_noted>>::extend_with<status_source>;

/// Tells everybody about new versions: subscribers, the record, the evaluation.
using publisher_actor = caf::typed_actor<
  // Announces a durable version, and has it scored where that is due.
  caf::reacts_to<messages::version_published>,
  // Passes on that a client fails, for whoever watches.
  caf::reacts_to<messages::client_failed>,
  // Passes on how many rounds count.
  caf::reacts_to<messages::round_counted>,
  // The run is over: the last versions are scored, client by client.
  caf::reacts_to<messages::run_finished>>::extend_with<status_source>;

/// Collects the offers to one line and turns them into versions.
using aggregator_actor = caf::typed_actor<
  // Makes an offer. The gateway hears `part_answered`: a refusal at once,
  // `accepted` when the version is durable. The director hears `part_taken`.
  caf::reacts_to<messages::part_offered>,
  // Asks after a part: answered like an offer, or once more that it is held. If
  // a list names it and it is not here the director hears `parts_lacked`.
  caf::reacts_to<messages::part_awaited>,
  // Names the visits of a round; the director hears `round_merged`, and before
  // it `parts_lacked` if some of them are not here.
  caf::reacts_to<messages::round_closed>,
  // Says how many clients `sum_over` divides by.
  caf::reacts_to<messages::clients_admitted>,
  // Withdraws what is pending of a visit that no list will name.
  caf::reacts_to<messages::visit_dropped>,
  // The run ends; what is pending is withdrawn. The director hears
  // `line_ended`.
  caf::reacts_to<messages::line_closing>>::extend_with<snapshot_source,
                                                       status_source>;

/// Serves the published versions of one line.
using expert_actor = caf::typed_actor<
  // Puts a durable version on the shelf.
  caf::reacts_to<messages::version_published>,
  // Answered to the gateway with `line_served`.
  caf::reacts_to<messages::serve_requested>>::extend_with<snapshot_source,
                                                          status_source>;

/// Knows which lines there are and who keeps them. Who asks it for state or
/// status asks them all.
using router_actor = caf::typed_actor<
  // Passes a part of an offer to its line, or answers `unknown_expert`.
  caf::reacts_to<messages::part_offered>,
  // Passed to its line.
  caf::reacts_to<messages::part_awaited>,
  // Passes a fetch to the line's expert, or has the visit ended.
  caf::reacts_to<messages::serve_requested>,
  // Passed to the line's expert.
  caf::reacts_to<messages::version_published>,
  // Passed to all lines, as are the three that follow.
  caf::reacts_to<messages::round_closed>,
  caf::reacts_to<messages::clients_admitted>,
  caf::reacts_to<messages::visit_dropped>,
  caf::reacts_to<messages::line_closing>>::extend_with<snapshot_source,
                                                       status_source>;

/// Who is here: sessions, incarnations, liveness.
using roster_actor = caf::typed_actor<
  // Judges who says hello; the gateway hears `hello_judged`.
  caf::reacts_to<messages::hello_heard>,
  // A client is still there.
  caf::reacts_to<messages::beat_heard>,
  // A client said that it leaves; passed to the director.
  caf::reacts_to<messages::client_left>>::extend_with<snapshot_source,
                                                      status_source>;

/// Decides who is invited when, when rounds close, and when the run is over.
using director_actor = caf::typed_actor<
  // A client has a session and may be invited.
  caf::reacts_to<messages::client_joined>,
  // A client said that it leaves, or was silent for too long.
  caf::reacts_to<messages::client_left>,
  // A part of an offer is kept, or refused.
  caf::reacts_to<messages::part_taken>,
  // A visit ended without an offer that counts.
  caf::reacts_to<messages::visit_failed>,
  // What use experts are to a visit, for who watches.
  caf::reacts_to<messages::visit_loaded>,
  // A line has a new durable version.
  caf::reacts_to<messages::version_published>,
  // A line has merged its part of a round.
  caf::reacts_to<messages::round_merged>,
  // A line has not all that a round's list names.
  caf::reacts_to<messages::parts_lacked>,
  // A line has no more versions to come.
  caf::reacts_to<messages::line_ended>,
  // A line's offers cannot be merged: the run ends as failed.
  caf::reacts_to<messages::line_failed>,
  // A version's scores, which may end the run, or why there are none.
  caf::reacts_to<messages::evaluation_finished>,
  // Somebody wants the run to end, in order.
  caf::reacts_to<messages::stop_requested>>::extend_with<snapshot_source,
                                                         status_source>;

/// Speaks frames with clients, and lets nothing through that would spoil a
/// batch.
using gateway_actor = caf::typed_actor<
  // Opens what a client says, and tells it to whom it concerns.
  caf::reacts_to<transport::frame_arrived>,
  // Opens a session, or says farewell to who is refused.
  caf::reacts_to<messages::hello_judged>,
  // Seals a ticket and sends it to its client.
  caf::reacts_to<messages::invitation_made>,
  // Tells a client that its visit has ended, and why.
  caf::reacts_to<messages::visit_withdrawn>,
  // Passed to the client that fetches.
  caf::reacts_to<messages::line_served>,
  // Passed to the client as `offer_held`.
  caf::reacts_to<messages::part_held>,
  // Passed to the client as `offer_answered`.
  caf::reacts_to<messages::part_answered>,
  // A hint for all sessions.
  caf::reacts_to<messages::version_announced>,
  // Asked of all processes with clients that have sessions.
  caf::replies_to<messages::scores_wanted>::with<messages::scores_under_way>,
  // Ends the session of who was silent for too long: when it speaks again, it
  // is asked for a hello.
  caf::reacts_to<messages::client_left>,
  // Says farewell to all.
  caf::reacts_to<messages::run_finished>>::extend_with<snapshot_source,
                                                       status_source>;

/// Answers processes, before their clients say hello.
using reception_actor = caf::typed_actor<
  // Says what the run is, or which clients a process has.
  caf::reacts_to<transport::frame_arrived>>::extend_with<status_source>;

/// A client, at rest until it is invited.
using client_actor = caf::typed_actor<
  // The server says something.
  caf::reacts_to<transport::frame_arrived>,
  // A job is done, or has failed.
  caf::reacts_to<messages::job_finished>,
  // It comes, goes, drains or crashes.
  caf::reacts_to<messages::life_changed>>::extend_with<snapshot_source>;

/// Tells virtual clients when they are there; hears what the run has reached.
using world_actor = caf::typed_actor<
  // Changes the lives that change at a version.
  caf::reacts_to<messages::version_announced>>::extend_with<snapshot_source,
                                                            status_source>;

/// The actors of one node, by role. All of them hold this list; it is complete
/// before the first message is sent, and replaced as a whole when they are.
struct cast {
  gateway_actor gateway;
  roster_actor roster;
  director_actor director;
  router_actor router;
  merger_actor merger;
  evaluator_actor evaluator;
  assessor_actor assessor; ///< Then this is the evaluator; null: none.
  archivist_actor archivist;
  publisher_actor publisher;
  bool whole = false; ///< Nobody speaks before: they would speak to nobody.
};

/// How an actor of a node finds the others.
class cast_ptr {
public:
  cast_ptr() = default;

  cast_ptr(const std::shared_ptr<cast>& x) : all_(x) {
    // nop
  }

  const cast* operator->() const {
    TROUPE_ASSERT(all_->whole);
    return all_.get();
  }

private:
  std::shared_ptr<const cast> all_;
};

} // namespace troupe::actors
