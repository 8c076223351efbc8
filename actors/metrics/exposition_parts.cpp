#include "actors/metrics/exposition_parts.hpp"

#include <algorithm>

#include "actors/metrics/shown_lines.hpp"
#include "actors/transport/crossings.hpp"
#include "actors/transport/refusals.hpp"
#include "core/limits.hpp"
#include "core/program_version.hpp"

namespace troupe::actors {

namespace {

/// What a map says, or nothing of it yet.
template <class T>
T at(const std::map<std::string, T>& x, const std::string& name) {
  const auto found = x.find(name);
  return found == x.end() ? T{} : found->second;
}

void put_crossed(families& to, const socket_status& x,
                 std::uint64_t socket_status::crossed::*what) {
  for (const std::string kind : transport::crossing_names) {
    to.put(at(x.up, kind).*what, {"up", kind});
    to.put(at(x.down, kind).*what, {"down", kind});
  }
}

void put_handshakes(families& to, const std::string& role,
                    const socket_status::handshake_counts& x) {
  to.put(x.made, {role, "made"});
  to.put(x.refused, {role, "refused"});
  to.put(x.unlike, {role, "unlike"});
  to.put(x.broken, {role, "broken"});
}

void put_connections(families& to, const socket_status& x) {
  to.say("troupe_connections", x.connected);
  to.say("troupe_connections_limit", x.connected_max);
  to.say("troupe_connections_behind", x.behind);
  to.say("troupe_processes_total", x.met);
  to.begin("troupe_handshakes_total");
  put_handshakes(to, "listens", x.listened);
  put_handshakes(to, "dials", x.dialled);
  to.begin("troupe_connections_lost_total");
  to.put(x.listened.lost, {"listens"});
  to.put(x.dialled.lost, {"dials"});
  to.begin("troupe_refusals_total");
  for (const std::string reason : transport::refusal_names)
    to.put(at(x.refused, reason), {reason});
  to.say("troupe_redials_total", x.dialled_anew);
  to.say("troupe_socket_failures_total", x.failures);
}

} // namespace

void put_build(families& to) {
  to.begin("troupe_build_info");
  to.put(1.0, {program_version()});
}

// A method may say something of each client, as `rank_post.7`.
void put_results(families& to, const std::map<std::string, double>& x) {
  to.begin("troupe_method_result");
  std::size_t said = 0;
  for (const auto& [name, value] : x)
    if (family_of(name) == name && said++ < limits::lines_labelled)
      to.put(value, {name});
}

void put_workers(families& to, const crew_status& x, const process_outlay& of) {
  const std::uint64_t busy = x.under_way.size();
  const std::uint64_t idle = x.workers > busy ? x.workers - busy : 0;
  to.begin("troupe_workers");
  to.put(busy, {"busy"});
  to.put(idle, {"idle"});
  // Trainers compute on this processor alone, as yet.
  to.begin("troupe_device_workers");
  to.put(busy, {"cpu", "busy"});
  to.put(idle, {"cpu", "idle"});
  to.begin("troupe_device_memory_bytes");
  to.put(of.machine_bytes, {"cpu"});
  to.begin("troupe_device_memory_bytes_limit");
  to.put(of.machine_bytes_max, {"cpu"});
  to.begin("troupe_worker_queue_jobs");
  to.put(x.queued, {"cpu"});
  double longest = 0;
  for (const auto& task : x.under_way)
    longest = std::max(longest, task.seconds);
  to.say("troupe_worker_task_seconds", longest);
}

void put_disk(families& to, const process_outlay& x) {
  to.say("troupe_disk_free_bytes", x.disk_free_bytes);
  to.say("troupe_disk_size_bytes", x.disk_size_bytes);
}

void put_process(families& to, const reader_status& readers,
                 const process_outlay& x) {
  to.begin("troupe_http_request_seconds");
  for (const std::string page :
       {"metrics", "healthz", "readyz", "why", "other"})
    to.put(at(readers.requests, page), {page});
  to.say("troupe_http_connections", readers.connections);
  to.say("troupe_http_connections_limit", limits::http_connections_max);
  to.say("process_cpu_seconds_total", x.cpu_seconds);
  to.say("process_resident_memory_bytes", x.memory_bytes);
  to.say("process_start_time_seconds", x.began_seconds);
  to.say("process_open_fds", x.files_open);
  to.say("process_max_fds", x.files_max);
  to.say("troupe_process_cpu_seconds_total", x.cpu_seconds);
  to.say("troupe_process_resident_memory_bytes", x.memory_bytes);
}

void put_socket(families& to, const socket_status& x) {
  put_connections(to, x);
  to.begin("troupe_socket_bytes_total");
  put_crossed(to, x, &socket_status::crossed::bytes);
  to.begin("troupe_socket_pieces_total");
  put_crossed(to, x, &socket_status::crossed::pieces);
  to.begin("troupe_transfers");
  to.put(x.transfers_in, {"arriving"});
  to.put(x.transfers_waiting, {"without_room"});
  to.put(x.transfers_out, {"leaving"});
  to.begin("troupe_transfers_total");
  to.put(x.carried_up.transfers, {"up"});
  to.put(x.carried_down.transfers, {"down"});
  to.say("troupe_credit_waits_total", x.credit_waits);
  to.say("troupe_unsent_bytes", x.unsent_bytes);
  to.say("troupe_unsent_bytes_limit", std::uint64_t{limits::unsent_bytes_max});
  to.say("troupe_unhandled_bytes", x.unhandled_bytes);
  to.say("troupe_unhandled_bytes_limit", x.unhandled_bytes_max);
  to.say("troupe_unhandled_frames", x.unhandled_frames);
  to.say("troupe_unhandled_frames_limit", x.unhandled_frames_max);
  to.say("troupe_malformed_pieces_total", x.malformed);
  to.say("troupe_messages_dropped_total", x.dropped);
}

} // namespace troupe::actors
