#include "actors/metrics/exposition.hpp"

#include <cmath>
#include <limits>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "core/program_version.hpp"

namespace troupe::actors {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;
using labels = std::vector<ClientMetric::Label>;

/// The families of one answer, in the order in which they are written.
class families {
public:
  void counter(const char* name, const char* help) {
    begin(name, help, MetricType::Counter);
  }

  void gauge(const char* name, const char* help) {
    begin(name, help, MetricType::Gauge);
  }

  void summary(const char* name, const char* help) {
    begin(name, help, MetricType::Summary);
  }

  void histogram(const char* name, const char* help) {
    begin(name, help, MetricType::Histogram);
  }

  /// A value of the family that began last.
  void put(double value, labels of = {}) {
    auto& m = add(std::move(of));
    m.counter.value = value; // One of the two is written.
    m.gauge.value = value;
  }

  void put(std::uint64_t value, labels of = {}) {
    put(static_cast<double>(value), std::move(of));
  }

  void put(const duration_sum& x, labels of) {
    auto& m = add(std::move(of));
    m.summary.sample_count = x.count;
    m.summary.sample_sum = x.seconds;
  }

  void put(const staleness_counts& x, labels of) {
    auto& h = add(std::move(of)).histogram;
    for (std::size_t i = 0; i < x.buckets.size(); ++i) {
      h.sample_count += x.buckets[i];
      h.bucket.push_back(
        {h.sample_count, i < staleness_bounds.size()
                           ? static_cast<double>(staleness_bounds[i])
                           : std::numeric_limits<double>::infinity()});
    }
    h.sample_sum = static_cast<double>(x.sum);
  }

  std::string text() const {
    return prometheus::TextSerializer{}.Serialize(all_);
  }

private:
  void begin(const char* name, const char* help, MetricType type) {
    all_.push_back({name, help, type, {}});
  }

  ClientMetric& add(labels of) {
    auto& m = all_.back().metric.emplace_back();
    m.label = std::move(of);
    return m;
  }

  std::vector<prometheus::MetricFamily> all_;
};

std::string name_of(const run_status& x, line_id line) {
  const auto found = x.line_names.find(line);
  return found == x.line_names.end() ? std::to_string(line.value)
                                     : found->second;
}

void put_identity(families& to, const run_status& x) {
  to.gauge("troupe_build_info", "The troupe that runs; always 1.");
  to.put(1.0, {{"version", program_version()}});
  to.gauge("troupe_run_info", "What the run is; always 1.");
  to.put(1.0, {{"method", x.method}, {"mode", x.mode}, {"clock", x.clock}});
  to.gauge("troupe_run_seconds", "Where the run's own clock stands.");
  to.put(seconds(x.at));
  to.gauge("troupe_progress_ratio", "The share of its length that is behind.");
  to.put(x.course ? x.course->progress : 0);
  to.gauge("troupe_last_progress_timestamp_seconds",
           "When last a visit or a version was done.");
  to.put(static_cast<double>(x.progress_ms) / 1000);
}

void put_lines(families& to, const run_status& x) {
  to.counter("troupe_versions_total", "Versions made, by line.");
  for (const auto& [line, s] : x.lines)
    to.put(s.head.value, {{"line", name_of(x, line)}});
  to.gauge("troupe_head_version", "The newest version, by block.");
  for (const auto& [block, head] : x.heads)
    to.put(head, {{"block", block}});
  to.gauge("troupe_buffered_offers", "Offers that wait for a merge.");
  for (const auto& [line, s] : x.lines)
    to.put(s.pending, {{"line", name_of(x, line)}});
  to.gauge("troupe_buffer_capacity_offers",
           "Offers that make a version; 0 where a round says.");
  for (const auto& [line, s] : x.lines)
    to.put(s.needed, {{"line", name_of(x, line)}});
  to.histogram("troupe_offer_staleness_versions",
               "How many versions merged offers were behind.");
  for (const auto& [line, s] : x.lines)
    to.put(s.staleness, {{"line", name_of(x, line)}});
  to.counter("troupe_merged_bytes_total", "Bytes of offers that were merged.");
  for (const auto& [line, s] : x.lines)
    to.put(s.merged_bytes, {{"line", name_of(x, line)}});
  to.gauge("troupe_line_failing", "1 where the last merge or commit failed.");
  for (const auto& [line, s] : x.lines)
    to.put(s.failure.empty() ? 0.0 : 1.0, {{"line", name_of(x, line)}});
}

void put_offers(families& to, const run_status& x) {
  verdict_counts all{};
  if (x.door)
    all = x.door->refusals;
  for (const auto& [line, s] : x.lines)
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] += s.answers[i];
  to.counter("troupe_offers_total", "Answers to offers, by verdict.");
  for (std::size_t i = 0; i < all.size(); ++i)
    to.put(all[i], {{"verdict",
                     policies::to_string(static_cast<policies::verdict>(i))}});
  to.counter("troupe_visits_total", "Visits that were trained.");
  to.put(x.visits);
}

void put_course(families& to, const run_status& x) {
  const auto c = x.course.value_or(course_status{});
  to.gauge("troupe_clients", "Clients by what they do.");
  to.put(c.visits_open - c.visits_lost, {{"state", "at_work"}});
  to.put(c.visits_lost, {{"state", "lost"}});
  to.put(c.free, {{"state", "free"}});
  to.put(c.known > c.here ? c.known - c.here : 0, {{"state", "away"}});
  to.gauge("troupe_offer_bytes",
           "What offers under way or waiting to be merged may take.");
  to.put(c.bytes_held);
  to.gauge("troupe_offer_bytes_max", "So much, and nobody is invited.");
  to.put(c.bytes_max);
  to.counter("troupe_joins_total", "Clients that came, also again.");
  to.put(c.joins);
  to.counter("troupe_visits_failed_total", "Visits that failed.");
  to.put(c.failed);
  to.gauge("troupe_clients_left_alone",
           "Clients that are not invited since their visits failed.");
  to.put(c.alone);
  to.counter("troupe_clients_anew_total",
             "Clients that came back without what they had kept.");
  to.put(c.anew);
  to.counter("troupe_leaves_total", "Clients that went, by how.");
  to.put(c.leaves, {{"reason", "said"}});
  to.put(c.losses, {{"reason", "lost"}});
  to.gauge("troupe_sessions", "Clients with an open session.");
  to.put(x.door ? x.door->sessions : 0);
  to.gauge("troupe_round", "The round or window; 0 where there are none.");
  to.put(c.round);
  to.gauge("troupe_round_offers", "Complete offers in the round or window.");
  to.put(c.complete);
  to.gauge("troupe_round_wanted_offers", "Offers that close the round.");
  to.put(c.wanted);
}

/// Behind the beginning of `troupe_visit_seconds`.
void put_crew(families& to, const crew_status& x) {
  to.put(x.waits, {{"phase", "queue"}});
  to.put(x.work, {{"phase", "train"}});
  to.gauge("troupe_workers", "Kernel workers by what they do.");
  const auto busy = x.under_way.size();
  to.put(busy, {{"state", "busy"}});
  to.put(x.workers > busy ? x.workers - busy : 0, {{"state", "idle"}});
  to.gauge("troupe_worker_queue_jobs", "Clients' jobs that wait for a worker.");
  to.put(x.queued);
}

void put_work(families& to, const run_status& x) {
  to.summary("troupe_visit_seconds",
             "Real time that visits took, by phase: queue for a worker, buffer "
             "for a merge; merges and commits are of whole batches.");
  duration_sum waits;
  duration_sum merges;
  duration_sum commits;
  for (const auto& [line, s] : x.lines) {
    waits.add(s.waits);
    merges.add(s.merges);
    commits.add(s.commits);
  }
  to.put(waits, {{"phase", "buffer"}});
  to.put(merges, {{"phase", "merge"}});
  to.put(commits, {{"phase", "commit"}});
  put_crew(to, x.crew);
}

void put_mailboxes(families& to, const run_status& x) {
  to.gauge("troupe_mailbox_messages", "Messages that wait for an actor.");
  if (x.course)
    to.put(x.course->mailbox, {{"actor", "director"}});
  if (x.door)
    to.put(x.door->mailbox, {{"actor", "gateway"}});
  for (const auto& [line, s] : x.lines)
    to.put(s.mailbox, {{"actor", "aggregator"}, {"line", name_of(x, line)}});
}

void put_rest(families& to, const run_status& x) {
  to.counter("troupe_transferred_bytes_total",
             "Bytes of encoded frames, by direction as the server sees it.");
  to.put(x.bytes_up, {{"direction", "up"}});
  to.put(x.bytes_down, {{"direction", "down"}});
  to.counter("troupe_malformed_frames_total", "Frames that were dropped.");
  to.put(x.frames_malformed);
  to.gauge("troupe_evaluation_metric", "Of the last evaluation.");
  for (const auto& [name, value] : x.evaluation)
    to.put(value, {{"metric", std::string{name_of(name.metric)}},
                   {"split", std::string{name_of(name.split)}},
                   {"scope", std::string{name_of(name.scope)}}});
  to.gauge("troupe_ledger_bytes", "The ledger and the versions beside it.");
  to.put(x.ledger_bytes);
  to.summary("troupe_checkpoint_seconds",
             "Real time that snapshots of a simulated run took.");
  to.put(x.checkpoints, {});
  to.counter("troupe_checkpoints_failed_total",
             "Snapshots of a simulated run that could not be kept.");
  to.put(x.lost.count);
}

void put_process(families& to, double cpu_seconds, std::uint64_t memory) {
  to.counter("troupe_process_cpu_seconds_total", "CPU time of this process.");
  to.put(cpu_seconds);
  to.gauge("troupe_process_resident_memory_bytes", "Memory of this process.");
  to.put(memory);
}

void put_crossed(families& to, const socket_status& x,
                 std::uint64_t socket_status::crossed::*what) {
  for (const auto& [kind, n] : x.up)
    to.put(n.*what, {{"direction", "up"}, {"kind", kind}});
  for (const auto& [kind, n] : x.down)
    to.put(n.*what, {{"direction", "down"}, {"kind", kind}});
}

void put_socket(families& to, const socket_status& x) {
  to.gauge("troupe_connections", "Processes that are connected.");
  to.put(x.connected);
  to.gauge("troupe_connections_behind",
           "Those that have been sent more than they read for ten seconds.");
  to.put(x.behind);
  to.counter("troupe_processes_total", "Processes that came; 1 who dialled.");
  to.put(x.met);
  to.counter("troupe_socket_bytes_total",
             "Bytes at the socket before encryption, by direction as the "
             "server sees it and by what they are.");
  put_crossed(to, x, &socket_status::crossed::bytes);
  to.counter("troupe_socket_pieces_total", "Pieces that these bytes were.");
  put_crossed(to, x, &socket_status::crossed::pieces);
  to.gauge("troupe_transfers", "Large messages on their way.");
  to.put(x.transfers_in, {{"state", "arriving"}});
  to.put(x.transfers_waiting, {{"state", "without_room"}});
  to.put(x.transfers_out, {{"state", "leaving"}});
  to.gauge("troupe_unsent_bytes",
           "What waits to be sent, beside shared values.");
  to.put(x.unsent_bytes);
  to.gauge(
    "troupe_unhandled_bytes",
    "What arrived and waits to be handled, and what has room to arrive.");
  to.put(x.unhandled_bytes);
  to.counter("troupe_malformed_pieces_total", "Pieces that were dropped.");
  to.put(x.malformed);
  to.counter("troupe_messages_dropped_total",
             "Messages that were not sent since too much waited already.");
  to.put(x.dropped);
  to.counter("troupe_socket_failures_total", "Of ZeroMQ, or of memory.");
  to.put(x.failures);
  to.counter("troupe_redials_total", "Dialled anew after silence.");
  to.put(x.dialled_anew);
  to.counter("troupe_refusals_total",
             "Who was not let in or not heard, by reason.");
  for (const auto& [reason, n] : x.refused)
    to.put(n, {{"reason", reason}});
}

} // namespace

std::string exposition_of(const run_status& x) {
  families all;
  put_identity(all, x);
  put_lines(all, x);
  put_offers(all, x);
  put_course(all, x);
  put_work(all, x);
  put_mailboxes(all, x);
  put_rest(all, x);
  put_process(all, x.cpu_seconds, x.memory_bytes);
  return all.text();
}

std::string exposition_of(const seen_run& x) {
  families all;
  if (x.socket)
    put_socket(all, *x.socket);
  return exposition_of(static_cast<const run_status&>(x)) + all.text();
}

std::string exposition_of(const process_status& x) {
  families all;
  all.gauge("troupe_build_info", "The troupe that runs; always 1.");
  all.put(1.0, {{"version", program_version()}});
  all.gauge("troupe_connected", "1 where there is a connection to the server.");
  all.put(x.connected ? 1.0 : 0.0);
  all.gauge("troupe_clients_here", "Clients of this process.");
  all.put(x.clients);
  all.counter("troupe_visits_total", "Visits that were trained.");
  all.put(x.crew.work.count);
  all.gauge("troupe_last_progress_timestamp_seconds",
            "When last a visit was done.");
  all.put(static_cast<double>(x.progress_ms) / 1000);
  all.summary("troupe_visit_seconds", "Real time that visits took, by phase.");
  put_crew(all, x.crew);
  put_process(all, x.cpu_seconds, x.memory_bytes);
  put_socket(all, x.socket);
  return all.text();
}

} // namespace troupe::actors
