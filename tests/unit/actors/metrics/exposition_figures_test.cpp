// Each figure of a process is said where the table has it: none is as large as
// another, so that two which change places are seen.

#include "actors/metrics/exposition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/limits.hpp"
#include "tests/unit/actors/metrics/distinct_figures.hpp"

namespace troupe::actors::exposition_figures_test {

namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using samples = std::map<std::string, double>;

/// By name and labels, but for buckets.
samples read(const std::string& text) {
  samples out;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.rfind(' ');
    if (!line.starts_with("troupe_") && !line.starts_with("process_"))
      continue;
    const auto name = line.substr(0, space);
    if (name.find("_bucket{") != std::string::npos
        || name.starts_with("troupe_build_info"))
      continue;
    EXPECT_FALSE(out.contains(name)) << name << " is said twice";
    out[name] = std::stod(line.substr(space));
  }
  return out;
}

/// What one says and the other does not, or otherwise.
std::vector<std::string> differences(const samples& found,
                                     const samples& wanted) {
  std::vector<std::string> out;
  for (const auto& [name, value] : wanted)
    if (!found.contains(name))
      out.push_back(name + " is not said");
    else if (found.at(name) != value)
      out.push_back(name + " is " + std::to_string(found.at(name)));
  for (const auto& [name, value] : found)
    if (!wanted.contains(name))
      out.push_back(name + " is said");
  return out;
}

/// What a run and who joins it say alike.
constexpr const char* of_all = R"(
troupe_workers{state="busy"} 2
troupe_workers{state="idle"} 145
troupe_device_workers{device="cpu",state="busy"} 2
troupe_device_workers{device="cpu",state="idle"} 145
troupe_device_memory_bytes{device="cpu"} 150
troupe_device_memory_bytes_limit{device="cpu"} 151
troupe_worker_queue_jobs{device="cpu"} 146
troupe_worker_task_seconds 144
troupe_disk_free_bytes 152
troupe_disk_size_bytes 153
troupe_storage_failing 1
troupe_http_request_seconds_count{page="metrics"} 1
troupe_http_request_seconds_count{page="healthz"} 1
troupe_http_request_seconds_count{page="readyz"} 1
troupe_http_request_seconds_count{page="why"} 1
troupe_http_request_seconds_count{page="other"} 1
troupe_http_request_seconds_sum{page="metrics"} 201
troupe_http_request_seconds_sum{page="healthz"} 202
troupe_http_request_seconds_sum{page="readyz"} 203
troupe_http_request_seconds_sum{page="why"} 204
troupe_http_request_seconds_sum{page="other"} 205
troupe_http_connections 206
process_cpu_seconds_total 154
process_resident_memory_bytes 155
process_start_time_seconds 156
process_open_fds 157
process_max_fds 158
troupe_process_cpu_seconds_total 154
troupe_process_resident_memory_bytes 155
troupe_connections 208
troupe_connections_limit 209
troupe_connections_behind 210
troupe_processes_total 211
troupe_handshakes_total{role="listens",result="made"} 212
troupe_handshakes_total{role="listens",result="refused"} 213
troupe_handshakes_total{role="listens",result="unlike"} 214
troupe_handshakes_total{role="listens",result="broken"} 215
troupe_handshakes_total{role="dials",result="made"} 217
troupe_handshakes_total{role="dials",result="refused"} 218
troupe_handshakes_total{role="dials",result="unlike"} 219
troupe_handshakes_total{role="dials",result="broken"} 220
troupe_connections_lost_total{role="listens"} 216
troupe_connections_lost_total{role="dials"} 221
troupe_refusals_total{reason="no_key"} 222
troupe_refusals_total{reason="unknown_key"} 223
troupe_refusals_total{reason="expired_key"} 224
troupe_refusals_total{reason="denied_key"} 225
troupe_refusals_total{reason="beyond_enrolment"} 226
troupe_refusals_total{reason="too_many_clients"} 227
troupe_refusals_total{reason="client_of_another"} 228
troupe_refusals_total{reason="replayed_session"} 229
troupe_refusals_total{reason="frame_of_servers"} 230
troupe_refusals_total{reason="too_many_frames"} 231
troupe_refusals_total{reason="unreadable_key"} 232
troupe_redials_total 233
troupe_socket_failures_total 234
troupe_socket_pieces_total{direction="up",kind="values"} 239
troupe_socket_pieces_total{direction="up",kind="small"} 240
troupe_socket_pieces_total{direction="up",kind="said_again"} 241
troupe_socket_pieces_total{direction="up",kind="link"} 242
troupe_socket_pieces_total{direction="up",kind="unheard"} 243
troupe_socket_bytes_total{direction="up",kind="values"} 244
troupe_socket_bytes_total{direction="up",kind="small"} 245
troupe_socket_bytes_total{direction="up",kind="said_again"} 246
troupe_socket_bytes_total{direction="up",kind="link"} 247
troupe_socket_bytes_total{direction="up",kind="unheard"} 248
troupe_socket_pieces_total{direction="down",kind="values"} 249
troupe_socket_pieces_total{direction="down",kind="small"} 250
troupe_socket_pieces_total{direction="down",kind="said_again"} 251
troupe_socket_pieces_total{direction="down",kind="link"} 252
troupe_socket_pieces_total{direction="down",kind="unheard"} 253
troupe_socket_bytes_total{direction="down",kind="values"} 254
troupe_socket_bytes_total{direction="down",kind="small"} 255
troupe_socket_bytes_total{direction="down",kind="said_again"} 256
troupe_socket_bytes_total{direction="down",kind="link"} 257
troupe_socket_bytes_total{direction="down",kind="unheard"} 258
troupe_transfers{state="arriving"} 259
troupe_transfers{state="without_room"} 260
troupe_transfers{state="leaving"} 261
troupe_transfers_total{direction="up"} 262
troupe_transfers_total{direction="down"} 264
troupe_credit_waits_total 266
troupe_unsent_bytes 267
troupe_unhandled_bytes 268
troupe_unhandled_bytes_limit 269
troupe_unhandled_frames 270
troupe_unhandled_frames_limit 271
troupe_malformed_pieces_total 272
troupe_messages_dropped_total 273
)";

constexpr const char* of_runs = R"(
troupe_run_info{method="floral",mode="fedbuff",clock="wall",name="some",id="7"} 1
troupe_run_seconds 101
troupe_progress_ratio 0.25
troupe_last_progress_timestamp_seconds 102
troupe_node_ready 1
troupe_restarts_total 103
troupe_versions_total{line="adapter.0"} 124
troupe_head_version{block="model"} 207
troupe_buffered_offers{line="adapter.0"} 125
troupe_buffered_offers_limit{line="adapter.0"} 126
troupe_buffer_capacity_offers{line="adapter.0"} 127
troupe_offer_staleness_versions_count{line="adapter.0"} 1
troupe_offer_staleness_versions_sum{line="adapter.0"} 128
troupe_merged_bytes_total{line="adapter.0"} 129
troupe_line_failing{line="adapter.0"} 0
troupe_lines{family="adapter"} 3
troupe_experts_active{family="adapter"} 161
troupe_expert_visits_total{line="adapter.0"} 159
troupe_expert_rows_total{line="adapter.0"} 160
troupe_expert_first_places_total{line="adapter.0"} 164
troupe_expert_requests_total{line="adapter.0"} 165
troupe_routing_alarm{line="adapter.0",what="crowded"} 1
troupe_routing_alarm{line="adapter.0",what="deserted"} 0
troupe_router_entropy_ratio_count{disclosure="pi"} 162
troupe_router_entropy_ratio_sum{disclosure="pi"} 163
troupe_method_result{result="recovered"} 166
troupe_offers_total{verdict="accepted"} 1131
troupe_offers_total{verdict="duplicate"} 2132
troupe_offers_total{verdict="too_stale"} 3133
troupe_offers_total{verdict="overloaded"} 4134
troupe_offers_total{verdict="malformed"} 5135
troupe_offers_total{verdict="unknown_expert"} 6136
troupe_offers_total{verdict="not_invited"} 7137
troupe_offers_total{verdict="withdrawn"} 8138
troupe_visits_total 167
troupe_visits_failed_total 104
troupe_offer_bytes 105
troupe_offer_bytes_limit 106
troupe_offer_bytes_max 106
troupe_round 107
troupe_round_offers 108
troupe_round_wanted_offers 109
troupe_clients{state="at_work"} 110
troupe_clients{state="lost"} 111
troupe_clients{state="free"} 112
troupe_clients{state="waiting"} 113
troupe_clients{state="away"} 114
troupe_joins_total 115
troupe_leaves_total{reason="said"} 116
troupe_leaves_total{reason="lost"} 117
troupe_clients_left_alone 118
troupe_clients_anew_total 119
troupe_sessions 121
troupe_leases{kind="number"} 235
troupe_leases{kind="name"} 237
troupe_leases_limit{kind="number"} 236
troupe_leases_limit{kind="name"} 238
troupe_visit_seconds_count{phase="queue"} 1
troupe_visit_seconds_count{phase="train"} 1
troupe_visit_seconds_count{phase="buffer"} 1
troupe_visit_seconds_count{phase="merge"} 1
troupe_visit_seconds_count{phase="commit"} 1
troupe_visit_seconds_sum{phase="queue"} 148
troupe_visit_seconds_sum{phase="train"} 149
troupe_visit_seconds_sum{phase="buffer"} 139
troupe_visit_seconds_sum{phase="merge"} 141
troupe_visit_seconds_sum{phase="commit"} 142
troupe_visit_phase_seconds_count{phase="queue"} 1
troupe_visit_phase_seconds_count{phase="download"} 1
troupe_visit_phase_seconds_count{phase="train"} 1
troupe_visit_phase_seconds_count{phase="upload"} 1
troupe_visit_phase_seconds_count{phase="buffer"} 1
troupe_visit_phase_seconds_count{phase="merge"} 1
troupe_visit_phase_seconds_count{phase="commit"} 1
troupe_visit_phase_seconds_sum{phase="queue"} 148
troupe_visit_phase_seconds_sum{phase="download"} 265
troupe_visit_phase_seconds_sum{phase="train"} 149
troupe_visit_phase_seconds_sum{phase="upload"} 263
troupe_visit_phase_seconds_sum{phase="buffer"} 140
troupe_visit_phase_seconds_sum{phase="merge"} 141
troupe_visit_phase_seconds_sum{phase="commit"} 142
troupe_visit_round_trip_seconds_count 1
troupe_visit_round_trip_seconds_sum 122
troupe_mailbox_messages{actor="director"} 120
troupe_mailbox_messages{actor="gateway"} 123
troupe_mailbox_messages{actor="roster"} 171
troupe_mailbox_messages{actor="router"} 172
troupe_mailbox_messages{actor="publisher"} 173
troupe_mailbox_messages{actor="archivist"} 174
troupe_mailbox_messages{actor="merger"} 175
troupe_mailbox_messages{actor="evaluator"} 176
troupe_mailbox_messages{actor="assessor"} 177
troupe_mailbox_messages{actor="reception"} 178
troupe_mailbox_messages{actor="supervisor"} 179
troupe_mailbox_messages{actor="kernel_worker"} 180
troupe_mailbox_messages{actor="world"} 181
troupe_mailbox_messages{actor="aggregator",line="adapter.0"} 130
troupe_mailbox_messages{actor="expert",line="adapter.0"} 182
troupe_transferred_bytes_total{direction="up"} 168
troupe_transferred_bytes_total{direction="down"} 169
troupe_malformed_frames_total 170
troupe_evaluation_metric{metric="accuracy",split="test",scope="global"} 183
troupe_evaluation_metric{metric="loss",split="validation",scope="global"} 184
troupe_evaluation_metric{metric="accuracy",split="own_test",scope="mean"} 185
troupe_evaluation_metric{metric="accuracy",split="own_test",scope="p10"} 186
troupe_evaluation_metric{metric="accuracy",split="own_test",scope="worst"} 187
troupe_evaluation_metric{metric="perplexity",split="test",scope="global"} 274
troupe_evaluation_metric{metric="perplexity",split="own_test",scope="mean"} 275
troupe_evaluation_metric{metric="perplexity",split="own_test",scope="p10"} 276
troupe_evaluation_metric{metric="perplexity",split="own_test",scope="worst"} 277
troupe_ledger_bytes 188
troupe_record_bytes 189
troupe_record_bytes_limit 190
troupe_arrivals_bytes 191
troupe_storage_seconds_count{task="commit"} 1
troupe_storage_seconds_count{task="save"} 1
troupe_storage_seconds_count{task="read"} 1
troupe_storage_seconds_count{task="keep"} 1
troupe_storage_seconds_count{task="drop"} 1
troupe_storage_seconds_count{task="note"} 1
troupe_storage_seconds_sum{task="commit"} 192
troupe_storage_seconds_sum{task="save"} 193
troupe_storage_seconds_sum{task="read"} 194
troupe_storage_seconds_sum{task="keep"} 195
troupe_storage_seconds_sum{task="drop"} 196
troupe_storage_seconds_sum{task="note"} 197
troupe_checkpoint_seconds_count 1
troupe_checkpoint_seconds_sum 198
troupe_checkpoints_failed_total 199
)";

constexpr const char* of_joins = R"(
troupe_last_progress_timestamp_seconds 301
troupe_method_result{result="recovered"} 302
troupe_visits_total 2
troupe_connected 1
troupe_clients_here 304
troupe_visit_seconds_count{phase="queue"} 1
troupe_visit_seconds_count{phase="train"} 2
troupe_visit_seconds_sum{phase="queue"} 148
troupe_visit_seconds_sum{phase="train"} 454
troupe_visit_phase_seconds_count{phase="queue"} 1
troupe_visit_phase_seconds_count{phase="download"} 1
troupe_visit_phase_seconds_count{phase="train"} 2
troupe_visit_phase_seconds_count{phase="upload"} 1
troupe_visit_phase_seconds_sum{phase="queue"} 148
troupe_visit_phase_seconds_sum{phase="download"} 265
troupe_visit_phase_seconds_sum{phase="train"} 454
troupe_visit_phase_seconds_sum{phase="upload"} 263
troupe_mailbox_messages{actor="kernel_worker"} 306
troupe_store_bytes 307
troupe_storage_seconds_count{task="client"} 1
troupe_storage_seconds_sum{task="client"} 308
)";

/// With the bounds that are limits of ours.
samples wanted_of(const char* own) {
  auto out = read(std::string{of_all} + own);
  out["troupe_http_connections_limit"] =
    static_cast<double>(limits::http_connections_max);
  out["troupe_unsent_bytes_limit"] =
    static_cast<double>(limits::unsent_bytes_max);
  return out;
}

} // namespace

TEST(exposition, of_a_run_has_each_figure_in_its_place) {
  EXPECT_THAT(differences(read(exposition_of(some_run(), some_readers())),
                          wanted_of(of_runs)),
              IsEmpty());
}

TEST(exposition, of_a_joining_process_has_each_figure_in_its_place) {
  EXPECT_THAT(differences(read(exposition_of(some_process(), some_readers())),
                          wanted_of(of_joins)),
              IsEmpty());
}

// Of what is either 0 or 1 each has a cause of its own.
TEST(exposition, has_each_flag_by_its_own_cause) {
  auto x = some_run();
  x.broken = "it threw";
  x.obstacle = "";
  x.lines[{1}].failure = "it diverged";
  x.load.requests.alarms[0].what = "deserted";
  const auto text = exposition_of(x);
  for (const auto* line :
       {"troupe_node_ready 0\n", "troupe_storage_failing 0\n",
        "troupe_line_failing{line=\"adapter.0\"} 1\n",
        "troupe_routing_alarm{line=\"adapter.0\",what=\"crowded\"} 0\n",
        "troupe_routing_alarm{line=\"adapter.0\",what=\"deserted\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
  auto y = some_process();
  y.connected = y.store_waits = false;
  EXPECT_THAT(exposition_of(y), HasSubstr("troupe_connected 0\n"));
  EXPECT_THAT(exposition_of(y), HasSubstr("troupe_storage_failing 0\n"));
}

} // namespace troupe::actors::exposition_figures_test
