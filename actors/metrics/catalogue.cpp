#include "actors/metrics/catalogue.hpp"

#include <algorithm>
#include <utility>

#include "actors/transport/crossings.hpp"
#include "actors/transport/refusals.hpp"
#include "core/assert.hpp"
#include "policies/admission.hpp"

namespace troupe::actors {

namespace {

using home = metric_home;
using labels = std::vector<metric_label>;
using words = std::vector<std::string_view>;

words verdicts() {
  words out;
  for (std::size_t i = 0; i < policies::verdict_count; ++i)
    out.emplace_back(policies::to_string(static_cast<policies::verdict>(i)));
  return out;
}

words all_of(const auto& names) {
  return {names.begin(), names.end()};
}

const metric_label line{"line"};
const metric_label device{"device", {"cpu"}};
const metric_label direction{"direction", {"up", "down"}};

metric counter(std::string_view name, std::string_view unit, home in,
               std::string_view help, labels by = {}) {
  return {name, metric_type::counter, unit, in, std::move(by), help};
}

metric gauge(std::string_view name, std::string_view unit, home in,
             std::string_view help, labels by = {}) {
  return {name, metric_type::gauge, unit, in, std::move(by), help};
}

metric summary(std::string_view name, std::string_view unit, home in,
               std::string_view help, labels by = {}) {
  return {name, metric_type::summary, unit, in, std::move(by), help};
}

metric histogram(std::string_view name, std::string_view unit, home in,
                 std::string_view help, labels by = {}) {
  return {name, metric_type::histogram, unit, in, std::move(by), help};
}

std::vector<metric> of_runs() {
  return {
    gauge("troupe_build_info", "", home::all, "The troupe that runs; always 1.",
          {{"version"}}),
    gauge(
      "troupe_run_info", "", home::servers,
      "What the run is, and its folder as id; always 1.",
      {{"method"}, {"mode"}, {"clock", {"wall", "virtual"}}, {"name"}, {"id"}}),
    gauge("troupe_run_seconds", "seconds", home::servers,
          "Where the run's own clock stands."),
    gauge("troupe_progress_ratio", "ratio", home::servers,
          "The share of its length that is behind."),
    gauge("troupe_last_progress_timestamp_seconds", "seconds", home::all,
          "When last a visit or a version was done, since 1970."),
    gauge("troupe_node_ready", "", home::servers,
          "1 where the run's actors are there; 0 before, and while they are "
          "made anew."),
    counter("troupe_restarts_total", "restarts", home::servers,
            "How often the run's actors were made anew in this process."),
  };
}

std::vector<metric> of_lines() {
  return {
    counter("troupe_versions_total", "versions", home::servers,
            "Versions made, by line.", {line}),
    gauge("troupe_head_version", "versions", home::servers,
          "The newest version, by block or, of many, by family.", {{"block"}}),
    gauge("troupe_buffered_offers", "offers", home::servers,
          "Offers that wait for a merge.", {line}),
    gauge("troupe_buffered_offers_limit", "offers", home::servers,
          "So many, and a line refuses more as overloaded.", {line}),
    gauge("troupe_buffer_capacity_offers", "offers", home::servers,
          "Offers that make a version; 0 where a round says.", {line}),
    histogram("troupe_offer_staleness_versions", "versions", home::servers,
              "How many versions merged offers were behind.", {line}),
    counter("troupe_merged_bytes_total", "bytes", home::servers,
            "Bytes of offers that were merged.", {line}),
    gauge("troupe_line_failing", "", home::servers,
          "1 where the last merge or commit failed.", {line}),
    gauge("troupe_lines", "lines", home::servers,
          "Lines by the family of their blocks: experts are many of one.",
          {{"family"}}),
  };
}

std::vector<metric> of_experts() {
  return {
    gauge("troupe_experts_active", "lines", home::servers,
          "Experts that were of use to any of the last visits, ten for each of "
          "them.",
          {{"family"}}),
    counter("troupe_expert_visits_total", "visits", home::servers,
            "Load of an expert: visits that offered to it, each by its share.",
            {line}),
    counter("troupe_expert_rows_total", "rows", home::servers,
            "Load of an expert: examples of these visits' clients, by the same "
            "share.",
            {line}),
    counter("troupe_expert_first_places_total", "visits", home::servers,
            "Visits that asked for this expert before all others, where they "
            "say whom they ask for.",
            {line}),
    counter("troupe_expert_requests_total", "visits", home::servers,
            "Visits that asked for this expert, at any place.", {line}),
    gauge("troupe_routing_alarm", "", home::servers,
          "1 where an expert has more than 90 % of the last 50 first places, "
          "or none of the last 200 visits asked for it; of M experts, of which "
          "each visit asks for K, of the last 4 M / K where these are more.",
          {line, {"what", {"crowded", "deserted"}}}),
    summary("troupe_router_entropy_ratio", "ratio", home::servers,
            "Entropy of the mixtures that visits disclose: 0 is one expert, 1 "
            "all alike.",
            {{"disclosure"}}),
    gauge("troupe_method_result", "", home::all,
          "The recipe's own figures: of what clients disclosed last, or of the "
          "last evaluation if it scored clients; of join its clients' own.",
          {{"result"}}),
  };
}

std::vector<metric> of_offers() {
  return {
    counter("troupe_offers_total", "offers", home::servers,
            "Answers to offers, by verdict.", {{"verdict", verdicts()}}),
    counter("troupe_visits_total", "visits", home::all,
            "Visits that were trained."),
    counter("troupe_visits_failed_total", "visits", home::servers,
            "Visits that failed."),
    gauge("troupe_offer_bytes", "bytes", home::servers,
          "What offers under way or waiting to be merged may take."),
    gauge("troupe_offer_bytes_limit", "bytes", home::servers,
          "So much, and nobody is invited."),
    gauge("troupe_offer_bytes_max", "bytes", home::servers,
          "The same by its old name, for one version more."),
    gauge("troupe_round", "", home::servers,
          "The round or window; 0 where there are none."),
    gauge("troupe_round_offers", "offers", home::servers,
          "Complete offers in the round or window."),
    gauge("troupe_round_wanted_offers", "offers", home::servers,
          "Offers that close the round."),
  };
}

std::vector<metric> of_clients() {
  return {
    gauge("troupe_clients", "clients", home::servers,
          "All that were ever here, each in one state: here and at a visit; "
          "silent since the middle of one; here and free; here and not to be "
          "invited yet; not here.",
          {{"state", {"at_work", "lost", "free", "waiting", "away"}}}),
    counter("troupe_joins_total", "clients", home::servers,
            "Clients that came, also again."),
    counter("troupe_leaves_total", "clients", home::servers,
            "Clients that went, by how.", {{"reason", {"said", "lost"}}}),
    gauge("troupe_clients_left_alone", "clients", home::servers,
          "Clients that are not invited since their visits failed."),
    counter("troupe_clients_anew_total", "clients", home::servers,
            "Clients that came back without what they had kept."),
    gauge("troupe_sessions", "clients", home::servers,
          "Clients with an open session."),
    gauge(
      "troupe_leases", "clients", home::serve,
      "Clients that some process speaks for: of the partition, and with names.",
      {{"kind", {"number", "name"}}}),
    gauge("troupe_leases_limit", "clients", home::serve,
          "So many, and no process gets more.", {{"kind", {"number", "name"}}}),
    gauge("troupe_connected", "", home::join,
          "1 where there is a connection to the server."),
    gauge("troupe_clients_here", "clients", home::join,
          "Clients of this process."),
  };
}

std::vector<metric> of_work() {
  return {
    summary("troupe_visit_seconds", "seconds", home::all,
            "Real time that visits took, by phase: queue for a worker, buffer "
            "for a merge; merges and commits are of whole batches.",
            {{"phase", {"queue", "train", "buffer", "merge", "commit"}}}),
    histogram(
      "troupe_visit_phase_seconds", "seconds", home::all,
      "Real time of each, by phase; download and upload are of messages with "
      "values, to the last byte, from the request or from the first byte.",
      {{"phase",
        {"queue", "download", "train", "upload", "buffer", "merge",
         "commit"}}}),
    histogram("troupe_visit_round_trip_seconds", "seconds", home::servers,
              "Real time from an invitation to the whole offer."),
    gauge("troupe_workers", "workers", home::all,
          "Kernel workers by what they do.", {{"state", {"busy", "idle"}}}),
    gauge("troupe_device_workers", "workers", home::all,
          "The same by the device that they compute on.",
          {device, {"state", {"busy", "idle"}}}),
    gauge("troupe_device_memory_bytes", "bytes", home::all,
          "What of the device's memory is in use, by whomever; in a container "
          "whose control group may have less than the machine, what that group "
          "has taken.",
          {device}),
    gauge("troupe_device_memory_bytes_limit", "bytes", home::all,
          "What it has; of such a container what its group may have.",
          {device}),
    gauge("troupe_worker_queue_jobs", "jobs", home::all,
          "Clients' jobs that wait for a worker, by the device that they wait "
          "for.",
          {device}),
    gauge(
      "troupe_worker_task_seconds", "seconds", home::all,
      "For how long the worker that is longest at one task has been at it."),
  };
}

std::vector<metric> of_servers() {
  return {
    gauge(
      "troupe_mailbox_messages", "messages", home::all,
      "Messages that wait for an actor; aggregators and experts are of a line.",
      {{"actor",
        {"director", "gateway", "roster", "router", "publisher", "archivist",
         "merger", "evaluator", "assessor", "reception", "supervisor",
         "kernel_worker", "world", "aggregator", "expert"}},
       line}),
    counter("troupe_transferred_bytes_total", "bytes", home::servers,
            "Bytes of encoded frames, by direction as the server sees it.",
            {direction}),
    counter("troupe_malformed_frames_total", "frames", home::servers,
            "Frames that were dropped."),
    gauge("troupe_evaluation_metric", "", home::servers,
          "Of the last evaluation; perplexity where scores are of tokens.",
          {{"metric", {"accuracy", "loss", "perplexity"}},
           {"split", {"own_test", "test", "validation"}},
           {"scope", {"global", "mean", "p10", "worst"}}}),
  };
}

std::vector<metric> of_storage() {
  return {
    gauge("troupe_ledger_bytes", "bytes", home::servers,
          "The ledger and the versions beside it."),
    gauge("troupe_record_bytes", "bytes", home::servers,
          "What is written of events.jsonl."),
    gauge("troupe_record_bytes_limit", "bytes", home::servers,
          "So much, and the run ends; 0 where it has no events."),
    gauge("troupe_arrivals_bytes", "bytes", home::servers,
          "Offers that wait for a merge on disk."),
    gauge("troupe_store_bytes", "bytes", home::join,
          "What clients of this process keep on disk."),
    gauge("troupe_disk_free_bytes", "bytes", home::all,
          "Room on the disk that has the run's folder, or the clients' store."),
    gauge("troupe_disk_size_bytes", "bytes", home::all,
          "All that this disk holds."),
    histogram(
      "troupe_storage_seconds", "seconds", home::all,
      "Real time that writing took with its syncs, and reading; client is what "
      "clients of a joining process keep.",
      {{"task", {"commit", "save", "read", "keep", "drop", "note", "client"}}}),
    gauge("troupe_storage_failing", "", home::all,
          "1 where something waits for the disk to take it."),
    summary("troupe_checkpoint_seconds", "seconds", home::servers,
            "Real time that snapshots of a simulated run took."),
    counter("troupe_checkpoints_failed_total", "snapshots", home::servers,
            "Snapshots of a simulated run that could not be kept."),
  };
}

std::vector<metric> of_processes() {
  return {
    histogram("troupe_http_request_seconds", "seconds", home::all,
              "From a reader's first byte to the last one of its answer.",
              {{"page", {"metrics", "healthz", "readyz", "why", "other"}}}),
    gauge("troupe_http_connections", "connections", home::all,
          "Readers of these pages."),
    gauge("troupe_http_connections_limit", "connections", home::all,
          "One more takes the place of another."),
    counter("process_cpu_seconds_total", "seconds", home::all,
            "CPU time of this process."),
    gauge("process_resident_memory_bytes", "bytes", home::all,
          "Memory of this process."),
    gauge("process_start_time_seconds", "seconds", home::all,
          "When it began, since 1970."),
    gauge("process_open_fds", "files", home::all,
          "Files and sockets that it has open."),
    gauge("process_max_fds", "files", home::all, "So many it may have."),
    counter("troupe_process_cpu_seconds_total", "seconds", home::all,
            "As process_cpu_seconds_total."),
    gauge("troupe_process_resident_memory_bytes", "bytes", home::all,
          "As process_resident_memory_bytes."),
  };
}

std::vector<metric> of_connections() {
  return {
    gauge("troupe_connections", "processes", home::connected,
          "Processes that are connected."),
    gauge("troupe_connections_limit", "processes", home::connected,
          "One more takes the place of one that was silent for longest."),
    gauge("troupe_connections_behind", "processes", home::connected,
          "Those that have been sent more than they read for ten seconds."),
    counter("troupe_processes_total", "processes", home::connected,
            "Processes that came; 1 who dialled."),
    counter("troupe_handshakes_total", "connections", home::connected,
            "Connections that were made or not: the key is not allowed, one "
            "side has keys and the other has not, it broke off.",
            {{"role", {"listens", "dials"}},
             {"result", {"made", "refused", "unlike", "broken"}}}),
    counter("troupe_connections_lost_total", "connections", home::connected,
            "Connections that were there and ended.",
            {{"role", {"listens", "dials"}}}),
    counter("troupe_refusals_total", "refusals", home::connected,
            "Who was not let in or not heard, by reason.",
            {{"reason", all_of(transport::refusal_names)}}),
    counter("troupe_redials_total", "connections", home::connected,
            "Dialled anew after silence."),
    counter("troupe_socket_failures_total", "failures", home::connected,
            "Of ZeroMQ, or of memory."),
  };
}

std::vector<metric> of_sockets() {
  const metric_label kind{"kind", all_of(transport::crossing_names)};
  return {
    counter("troupe_socket_bytes_total", "bytes", home::connected,
            "Bytes at the socket before encryption, by direction as the server "
            "sees it and by what they are.",
            {direction, kind}),
    counter("troupe_socket_pieces_total", "pieces", home::connected,
            "Pieces that these bytes were.", {direction, kind}),
    gauge("troupe_transfers", "messages", home::connected,
          "Large messages on their way.",
          {{"state", {"arriving", "without_room", "leaving"}}}),
    counter("troupe_transfers_total", "messages", home::connected,
            "Large messages of visits that crossed to their last byte.",
            {direction}),
    counter(
      "troupe_credit_waits_total", "waits", home::connected,
      "Times that a large message had to wait until the other end takes more."),
    gauge("troupe_unsent_bytes", "bytes", home::connected,
          "What waits to be sent, beside shared values."),
    gauge("troupe_unsent_bytes_limit", "bytes", home::connected,
          "So much, and what is for who reads slowly is dropped."),
    gauge("troupe_unhandled_bytes", "bytes", home::connected,
          "What arrived and waits to be handled, and what has room to arrive."),
    gauge("troupe_unhandled_bytes_limit", "bytes", home::connected,
          "So much, and what is large waits outside."),
    gauge("troupe_unhandled_frames", "messages", home::connected,
          "Messages that arrived and wait to be handled, or have room to "
          "arrive."),
    gauge("troupe_unhandled_frames_limit", "messages", home::connected,
          "So many, and what is large waits outside."),
    counter("troupe_malformed_pieces_total", "pieces", home::connected,
            "Pieces that were dropped."),
    counter("troupe_messages_dropped_total", "messages", home::connected,
            "Messages that were not sent since too much waited already."),
  };
}

std::vector<metric> made() {
  std::vector<metric> out;
  for (auto* part :
       {of_runs, of_lines, of_experts, of_offers, of_clients, of_work,
        of_servers, of_storage, of_processes, of_connections, of_sockets})
    for (auto& x : part())
      out.push_back(std::move(x));
  return out;
}

} // namespace

const std::vector<metric>& all_metrics() {
  static const auto all = made();
  return all;
}

const metric& metric_of(std::string_view name) {
  const auto found = std::ranges::find(all_metrics(), name, &metric::name);
  TROUPE_ASSERT(found != all_metrics().end());
  return *found;
}

} // namespace troupe::actors
