#include "actors/metrics/exposition.hpp"

#include <algorithm>
#include <map>

#include "actors/metrics/exposition_parts.hpp"
#include "actors/metrics/shown_lines.hpp"
#include "core/limits.hpp"

namespace troupe::actors {

namespace {

using lines = std::vector<shown_line>;

void put_identity(families& to, const run_status& x) {
  put_build(to);
  to.begin("troupe_run_info");
  to.put(1.0, {x.method, x.mode, x.clock, x.name, x.id});
  to.say("troupe_run_seconds", seconds(x.at));
  to.say("troupe_progress_ratio", x.course ? x.course->progress : 0.0);
  to.say("troupe_last_progress_timestamp_seconds",
         static_cast<double>(x.progress_ms) / 1000);
  to.say("troupe_node_ready", x.course && x.broken.empty() ? 1.0 : 0.0);
  to.say("troupe_restarts_total", x.restarts);
}

/// A family with a value for each line.
void put_each(families& to, const char* name, const lines& all,
              const auto& value) {
  to.begin(name);
  for (const auto& x : all)
    to.put(value(x), {x.name});
}

/// Of many blocks the newest of each family.
void put_heads(families& to, const run_status& x) {
  const bool are_many = x.heads.size() > limits::lines_labelled;
  std::map<std::string, std::uint64_t> newest;
  for (const auto& [block, head] : x.heads) {
    auto& known = newest[are_many ? family_of(block) + "/*" : block];
    known = std::max(known, head);
  }
  to.begin("troupe_head_version");
  for (const auto& [block, head] : newest)
    to.put(head, {block});
}

void put_lines(families& to, const run_status& x, const lines& all) {
  put_each(to, "troupe_versions_total", all,
           [](const auto& l) { return l.status.head.value; });
  put_heads(to, x);
  put_each(to, "troupe_buffered_offers", all,
           [](const auto& l) { return l.status.pending; });
  put_each(to, "troupe_buffered_offers_limit", all,
           [](const auto& l) { return l.status.pending_max; });
  put_each(to, "troupe_buffer_capacity_offers", all,
           [](const auto& l) { return l.status.needed; });
  put_each(to, "troupe_offer_staleness_versions", all,
           [](const auto& l) { return l.status.staleness; });
  put_each(to, "troupe_merged_bytes_total", all,
           [](const auto& l) { return l.status.merged_bytes; });
  put_each(to, "troupe_line_failing", all,
           [](const auto& l) { return l.status.failure.empty() ? 0.0 : 1.0; });
  std::map<std::string, std::uint64_t> families_of_lines;
  for (const auto& [id, name] : x.line_names)
    ++families_of_lines[family_of(name)];
  to.begin("troupe_lines");
  for (const auto& [family, n] : families_of_lines)
    to.put(n, {family});
}

/// Where visits say whom they ask for; else there is nothing of it.
void put_requests(families& to, lines all) {
  std::erase_if(all, [](const auto& l) { return !l.is_asked_for; });
  put_each(to, "troupe_expert_first_places_total", all,
           [](const auto& l) { return l.requests.first; });
  put_each(to, "troupe_expert_requests_total", all,
           [](const auto& l) { return l.requests.asked; });
  to.begin("troupe_routing_alarm");
  for (const auto& l : all) {
    to.put(l.is_crowded ? 1.0 : 0.0, {l.name, "crowded"});
    to.put(l.is_deserted ? 1.0 : 0.0, {l.name, "deserted"});
  }
}

void put_experts(families& to, const run_status& x, lines all) {
  std::erase_if(all, [](const auto& l) { return !l.is_expert; });
  to.begin("troupe_experts_active");
  for (const auto& [family, n] : x.load.active)
    to.put(n, {family});
  put_each(to, "troupe_expert_visits_total", all,
           [](const auto& l) { return l.load.visits; });
  put_each(to, "troupe_expert_rows_total", all,
           [](const auto& l) { return l.load.rows; });
  put_requests(to, all);
  to.begin("troupe_router_entropy_ratio");
  for (const auto& [disclosure, sum] : x.load.entropies)
    to.put(sum, {disclosure});
  put_results(to, x.results);
}

void put_offers(families& to, const run_status& x, const course_status& c) {
  verdict_counts all{};
  if (x.door)
    all = x.door->refusals;
  for (const auto& [line, s] : x.lines)
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] += s.answers[i];
  to.begin("troupe_offers_total");
  for (std::size_t i = 0; i < all.size(); ++i)
    to.put(all[i], {policies::to_string(static_cast<policies::verdict>(i))});
  to.say("troupe_visits_total", x.visits);
  to.say("troupe_visits_failed_total", c.failed);
  to.say("troupe_offer_bytes", c.bytes_held);
  to.say("troupe_offer_bytes_limit", c.bytes_max);
  to.say("troupe_offer_bytes_max", c.bytes_max);
  to.say("troupe_round", c.round);
  to.say("troupe_round_offers", c.complete);
  to.say("troupe_round_wanted_offers", c.wanted);
}

void put_clients(families& to, const seen_run& x, const course_status& c) {
  to.begin("troupe_clients");
  to.put(c.at_work, {"at_work"});
  to.put(c.visits_lost, {"lost"});
  to.put(c.free, {"free"});
  to.put(c.waiting(), {"waiting"});
  to.put(c.away(), {"away"});
  to.say("troupe_joins_total", c.joins);
  to.begin("troupe_leaves_total");
  to.put(c.leaves, {"said"});
  to.put(c.losses, {"lost"});
  to.say("troupe_clients_left_alone", c.alone);
  to.say("troupe_clients_anew_total", c.anew);
  to.say("troupe_sessions", x.door ? x.door->sessions : std::uint64_t{0});
  if (!x.socket)
    return;
  const auto& leased = x.socket->leased;
  to.begin("troupe_leases");
  to.put(leased.numbers, {"number"});
  to.put(leased.names, {"name"});
  to.begin("troupe_leases_limit");
  to.put(leased.numbers_max, {"number"});
  to.put(leased.names_max, {"name"});
}

void put_work(families& to, const seen_run& x) {
  duration_sum waits;
  duration_counts buffered;
  duration_counts merges;
  duration_counts commits;
  for (const auto& [line, s] : x.lines) {
    waits.add(s.waits);
    buffered.add(s.buffered);
    merges.add(s.merges);
    commits.add(s.commits);
  }
  to.begin("troupe_visit_seconds");
  to.put(waits, {"buffer"});
  to.put(merges, {"merge"});
  to.put(commits, {"commit"});
  to.put(x.crew.waits, {"queue"});
  to.put(x.crew.work, {"train"});
  const auto socket = x.socket.value_or(socket_status{});
  to.begin("troupe_visit_phase_seconds");
  to.put(x.crew.waits, {"queue"});
  to.put(socket.carried_down.values, {"download"});
  to.put(x.crew.work, {"train"});
  to.put(socket.carried_up.values, {"upload"});
  to.put(buffered, {"buffer"});
  to.put(merges, {"merge"});
  to.put(commits, {"commit"});
  to.say("troupe_visit_round_trip_seconds",
         x.door ? x.door->round_trips : duration_counts{});
  put_workers(to, x.crew, x.own);
}

void put_mailboxes(families& to, const run_status& x, const lines& all) {
  to.begin("troupe_mailbox_messages");
  to.put(x.course ? x.course->mailbox : std::uint64_t{0}, {"director"});
  to.put(x.door ? x.door->mailbox : std::uint64_t{0}, {"gateway"});
  for (const std::string actor :
       {"roster", "router", "publisher", "archivist", "merger", "evaluator",
        "assessor", "reception", "supervisor", "kernel_worker", "world"}) {
    const auto found = x.mailboxes.find(actor);
    to.put(found == x.mailboxes.end() ? std::uint64_t{0} : found->second,
           {actor});
  }
  for (const auto& l : all) {
    to.put(l.status.mailbox, {"aggregator", l.name});
    to.put(l.reader_mailbox, {"expert", l.name});
  }
}

void put_messages(families& to, const run_status& x) {
  to.begin("troupe_transferred_bytes_total");
  to.put(x.bytes_up, {"up"});
  to.put(x.bytes_down, {"down"});
  to.say("troupe_malformed_frames_total", x.frames_malformed);
  to.begin("troupe_evaluation_metric");
  for (const auto& [name, value] : x.evaluation)
    to.put(value,
           {std::string{name_of(name.metric)}, std::string{name_of(name.split)},
            std::string{name_of(name.scope)}});
}

bool waits_for_disk(const run_status& x) {
  return !x.obstacle.empty() || (x.course && !x.course->failure.empty())
         || std::ranges::any_of(x.lines, [](const auto& line) {
              const auto& s = line.second;
              return !s.unkept.empty()
                     || (!s.failure.empty()
                         && s.at == line_status::step::storing);
            });
}

void put_storage(families& to, const run_status& x) {
  to.say("troupe_ledger_bytes", x.ledger_bytes);
  to.say("troupe_record_bytes", x.record_bytes);
  to.say("troupe_record_bytes_limit", x.record_bytes_max);
  to.say("troupe_arrivals_bytes", x.arrivals_bytes);
  put_disk(to, x.own);
  to.begin("troupe_storage_seconds");
  for (std::size_t i = 0; i < x.storage.size(); ++i)
    to.put(x.storage[i], {storage_task_names[i]});
  to.say("troupe_storage_failing", waits_for_disk(x) ? 1.0 : 0.0);
  to.say("troupe_checkpoint_seconds", x.checkpoints);
  to.say("troupe_checkpoints_failed_total", x.lost.count);
}

} // namespace

std::string exposition_of(const seen_run& x, const reader_status& readers) {
  families to;
  const auto all = shown_lines(x);
  const auto course = x.course.value_or(course_status{});
  put_identity(to, x);
  put_lines(to, x, all);
  put_experts(to, x, all);
  put_offers(to, x, course);
  put_clients(to, x, course);
  put_work(to, x);
  put_mailboxes(to, x, all);
  put_messages(to, x);
  put_storage(to, x);
  put_process(to, readers, x.own);
  if (x.socket)
    put_socket(to, *x.socket);
  return to.text();
}

std::string exposition_of(const process_status& x,
                          const reader_status& readers) {
  families to;
  put_build(to);
  to.say("troupe_last_progress_timestamp_seconds",
         static_cast<double>(x.progress_ms) / 1000);
  put_results(to, x.results);
  to.say("troupe_visits_total", x.crew.work.count);
  to.say("troupe_connected", x.connected ? 1.0 : 0.0);
  to.say("troupe_clients_here", x.clients);
  to.begin("troupe_visit_seconds");
  to.put(x.crew.waits, {"queue"});
  to.put(x.crew.work, {"train"});
  to.begin("troupe_visit_phase_seconds");
  to.put(x.crew.waits, {"queue"});
  to.put(x.socket.carried_down.values, {"download"});
  to.put(x.crew.work, {"train"});
  to.put(x.socket.carried_up.values, {"upload"});
  put_workers(to, x.crew, x.own);
  to.begin("troupe_mailbox_messages");
  to.put(x.worker_mailbox, {"kernel_worker"});
  to.say("troupe_store_bytes", x.store_bytes);
  put_disk(to, x.own);
  to.begin("troupe_storage_seconds");
  to.put(x.stored, {"client"});
  to.say("troupe_storage_failing", x.store_waits ? 1.0 : 0.0);
  put_process(to, readers, x.own);
  put_socket(to, x.socket);
  return to.text();
}

} // namespace troupe::actors
