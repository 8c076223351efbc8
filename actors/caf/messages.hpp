#pragma once

// The only header that teaches CAF our messages. CAF carries them within one
// process, by reference; the wire format is ours (actors/transport/). "Unsafe"
// is CAF's word for "never serialized by CAF", which is what we mean.

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/messages/arrivals.hpp"
#include "actors/messages/assessment.hpp"
#include "actors/messages/internal.hpp"
#include "actors/messages/load.hpp"
#include "actors/transport/frame.hpp"

#define TROUPE_MESSAGE(name)                                                   \
  CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::messages::name)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::transport::frame_arrived)
TROUPE_MESSAGE(state_asked)
TROUPE_MESSAGE(life_changed)
TROUPE_MESSAGE(status_asked)
TROUPE_MESSAGE(part_offered)
TROUPE_MESSAGE(part_answered)
TROUPE_MESSAGE(part_held)
TROUPE_MESSAGE(part_taken)
TROUPE_MESSAGE(part_awaited)
TROUPE_MESSAGE(serve_requested)
TROUPE_MESSAGE(line_served)
TROUPE_MESSAGE(merge_requested)
TROUPE_MESSAGE(merge_finished)
TROUPE_MESSAGE(commit_requested)
TROUPE_MESSAGE(version_committed)
TROUPE_MESSAGE(version_published)
TROUPE_MESSAGE(version_announced)
TROUPE_MESSAGE(version_wanted)
TROUPE_MESSAGE(version_read)
TROUPE_MESSAGE(round_closed)
TROUPE_MESSAGE(round_merged)
TROUPE_MESSAGE(parts_lacked)
TROUPE_MESSAGE(round_counted)
TROUPE_MESSAGE(line_closing)
TROUPE_MESSAGE(line_ended)
TROUPE_MESSAGE(line_failed)
TROUPE_MESSAGE(client_failed)
TROUPE_MESSAGE(clients_admitted)
TROUPE_MESSAGE(visit_dropped)
TROUPE_MESSAGE(hello_heard)
TROUPE_MESSAGE(hello_judged)
TROUPE_MESSAGE(beat_heard)
TROUPE_MESSAGE(client_joined)
TROUPE_MESSAGE(client_left)
TROUPE_MESSAGE(invitation_made)
TROUPE_MESSAGE(visit_withdrawn)
TROUPE_MESSAGE(visit_failed)
TROUPE_MESSAGE(visit_loaded)
TROUPE_MESSAGE(job_requested)
TROUPE_MESSAGE(job_finished)
TROUPE_MESSAGE(evaluation_requested)
TROUPE_MESSAGE(evaluation_finished)
TROUPE_MESSAGE(keep_requested)
TROUPE_MESSAGE(part_kept)
TROUPE_MESSAGE(drop_requested)
TROUPE_MESSAGE(parts_dropped)
TROUPE_MESSAGE(part_wanted)
TROUPE_MESSAGE(scores_wanted)
TROUPE_MESSAGE(scores_under_way)
TROUPE_MESSAGE(scores_heard)
TROUPE_MESSAGE(save_requested)
TROUPE_MESSAGE(records_saved)
TROUPE_MESSAGE(line_noted)
TROUPE_MESSAGE(stop_requested)
TROUPE_MESSAGE(run_finished)
