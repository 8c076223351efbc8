#pragma once

// Statuses of which no figure is as large as another.

#include <chrono>
#include <cstdint>
#include <string>

#include "actors/metrics/process_status.hpp"
#include "actors/transport/crossings.hpp"
#include "actors/transport/refusals.hpp"

namespace troupe::actors {

/// It took so long, once.
inline duration_counts once(double seconds) {
  duration_counts out;
  out.add(seconds);
  return out;
}

inline course_status some_course() {
  course_status x;
  x.progress = 0.25;
  x.failed = 104;
  x.bytes_held = 105;
  x.bytes_max = 106;
  x.round = 107;
  x.complete = 108;
  x.wanted = 109;
  x.at_work = 110;
  x.visits_lost = 111;
  x.free = 112;
  x.here = 110 + 112 + 113;
  x.known = x.here + 111 + 114;
  x.joins = 115;
  x.leaves = 116;
  x.losses = 117;
  x.alone = 118;
  x.anew = 119;
  x.mailbox = 120;
  return x;
}

inline line_status some_line() {
  line_status x;
  x.head = {124};
  x.pending = 125;
  x.pending_max = 126;
  x.needed = 127;
  x.staleness.add(128);
  x.merged_bytes = 129;
  x.mailbox = 130;
  x.answers = {131, 132, 133, 134, 135, 136, 137, 138};
  x.waits.add(139);
  x.buffered = once(140);
  x.merges = once(141);
  x.commits = once(142);
  return x;
}

inline crew_status some_crew() {
  crew_status x;
  x.under_way = {{.visit = {}, .seconds = 143}, {.visit = {}, .seconds = 144}};
  x.workers = 2 + 145;
  x.queued = 146;
  x.waits = once(148);
  x.work = once(149);
  return x;
}

inline process_outlay some_outlay() {
  return {.cpu_seconds = 154,
          .memory_bytes = 155,
          .began_seconds = 156,
          .files_open = 157,
          .files_max = 158,
          .machine_bytes = 150,
          .machine_bytes_max = 151,
          .disk_free_bytes = 152,
          .disk_size_bytes = 153};
}

inline reader_status some_readers() {
  reader_status x;
  x.requests = {{"metrics", once(201)},
                {"healthz", once(202)},
                {"readyz", once(203)},
                {"why", once(204)},
                {"other", once(205)}};
  x.connections = 206;
  return x;
}

inline socket_status some_socket() {
  socket_status x;
  x.connected = 208;
  x.connected_max = 209;
  x.behind = 210;
  x.met = 211;
  x.listened = {
    .made = 212, .refused = 213, .unlike = 214, .broken = 215, .lost = 216};
  x.dialled = {
    .made = 217, .refused = 218, .unlike = 219, .broken = 220, .lost = 221};
  std::uint64_t n = 222;
  for (const std::string reason : transport::refusal_names)
    x.refused[reason] = n++;
  x.dialled_anew = 233;
  x.failures = 234;
  x.leased = {
    .numbers = 235, .numbers_max = 236, .names = 237, .names_max = 238};
  n = 239;
  for (const std::string kind : transport::crossing_names) {
    x.up[kind] = {.pieces = n, .bytes = n + 5};
    x.down[kind] = {.pieces = n + 10, .bytes = n + 15};
    ++n;
  }
  x.transfers_in = 259;
  x.transfers_waiting = 260;
  x.transfers_out = 261;
  x.carried_up = {.transfers = 262, .values = once(263)};
  x.carried_down = {.transfers = 264, .values = once(265)};
  x.credit_waits = 266;
  x.unsent_bytes = 267;
  x.unhandled_bytes = 268;
  x.unhandled_bytes_max = 269;
  x.unhandled_frames = 270;
  x.unhandled_frames_max = 271;
  x.malformed = 272;
  x.dropped = 273;
  return x;
}

inline void add_scores(run_status& to) {
  using enum score_name::rows;
  using enum score_name::figure;
  using enum score_name::over;
  to.evaluation = {
    {{test, accuracy, global}, 183},     {{validation, loss, global}, 184},
    {{own_test, accuracy, mean}, 185},   {{own_test, accuracy, p10}, 186},
    {{own_test, accuracy, worst}, 187},  {{test, perplexity, global}, 274},
    {{own_test, perplexity, mean}, 275}, {{own_test, perplexity, p10}, 276},
    {{own_test, perplexity, worst}, 277}};
}

inline void add_storage(run_status& to) {
  to.obstacle = "the disk is full";
  to.ledger_bytes = 188;
  to.record_bytes = 189;
  to.record_bytes_max = 190;
  to.arrivals_bytes = 191;
  double seconds = 192;
  for (auto& x : to.storage)
    x = once(seconds++);
  to.checkpoints.add(198);
  to.lost.count = 199;
}

inline void add_experts(run_status& to) {
  to.line_names = {{{1}, "adapter.0"}, {{2}, "adapter.1"}, {{3}, "adapter.2"}};
  to.lines[{1}] = some_line();
  to.load.experts[{1}] = {.visits = 159, .rows = 160};
  to.load.active["adapter"] = 161;
  to.load.entropies["pi"] = {.count = 162, .sum = 163};
  to.load.requests.experts[{1}] = {.first = 164, .asked = 165};
  to.load.requests.alarms = {{.line = {1}, .what = "crowded", .text = ""}};
  to.results["recovered"] = 166;
  to.readers[{1}] = 182;
  to.heads["model"] = 207;
}

inline seen_run some_run() {
  seen_run x;
  x.name = "some";
  x.id = "7";
  x.method = "floral";
  x.mode = "fedbuff";
  x.clock = "wall";
  x.at = std::chrono::seconds{101};
  x.progress_ms = 102'000;
  x.restarts = 103;
  x.course = some_course();
  x.door =
    door_status{.sessions = 121,
                .refusals = {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000},
                .round_trips = once(122),
                .mailbox = 123};
  add_experts(x);
  add_scores(x);
  add_storage(x);
  x.crew = some_crew();
  x.own = some_outlay();
  x.visits = 167;
  x.bytes_up = 168;
  x.bytes_down = 169;
  x.frames_malformed = 170;
  std::uint64_t n = 171;
  for (const std::string actor :
       {"roster", "router", "publisher", "archivist", "merger", "evaluator",
        "assessor", "reception", "supervisor", "kernel_worker", "world"})
    x.mailboxes[actor] = n++;
  x.socket = some_socket();
  return x;
}

inline process_status some_process() {
  process_status x;
  x.progress_ms = 301'000;
  x.results["recovered"] = 302;
  x.connected = true;
  x.clients = 304;
  x.crew = some_crew();
  x.crew.work.add(305);
  x.socket = some_socket();
  x.worker_mailbox = 306;
  x.store_bytes = 307;
  x.stored = once(308);
  x.store_waits = true;
  x.own = some_outlay();
  return x;
}

} // namespace troupe::actors
