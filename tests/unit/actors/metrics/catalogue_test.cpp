#include "actors/metrics/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors {

namespace {

std::string page() {
  std::ifstream file{TROUPE_SOURCE_DIR "/docs/metrics.md"};
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

/// What people ask Prometheus for since before there was a table.
constexpr std::array old_names{"troupe_buffer_capacity_offers",
                               "troupe_buffered_offers",
                               "troupe_build_info",
                               "troupe_checkpoint_seconds",
                               "troupe_checkpoints_failed_total",
                               "troupe_clients",
                               "troupe_clients_anew_total",
                               "troupe_clients_here",
                               "troupe_clients_left_alone",
                               "troupe_connected",
                               "troupe_connections",
                               "troupe_connections_behind",
                               "troupe_evaluation_metric",
                               "troupe_head_version",
                               "troupe_joins_total",
                               "troupe_last_progress_timestamp_seconds",
                               "troupe_leaves_total",
                               "troupe_ledger_bytes",
                               "troupe_line_failing",
                               "troupe_mailbox_messages",
                               "troupe_malformed_frames_total",
                               "troupe_malformed_pieces_total",
                               "troupe_merged_bytes_total",
                               "troupe_messages_dropped_total",
                               "troupe_offer_bytes",
                               "troupe_offer_bytes_max",
                               "troupe_offer_staleness_versions",
                               "troupe_offers_total",
                               "troupe_process_cpu_seconds_total",
                               "troupe_process_resident_memory_bytes",
                               "troupe_processes_total",
                               "troupe_progress_ratio",
                               "troupe_redials_total",
                               "troupe_refusals_total",
                               "troupe_round",
                               "troupe_round_offers",
                               "troupe_round_wanted_offers",
                               "troupe_run_info",
                               "troupe_run_seconds",
                               "troupe_sessions",
                               "troupe_socket_bytes_total",
                               "troupe_socket_failures_total",
                               "troupe_socket_pieces_total",
                               "troupe_transferred_bytes_total",
                               "troupe_transfers",
                               "troupe_unhandled_bytes",
                               "troupe_unsent_bytes",
                               "troupe_versions_total",
                               "troupe_visit_seconds",
                               "troupe_visits_failed_total",
                               "troupe_visits_total",
                               "troupe_worker_queue_jobs",
                               "troupe_workers"};

bool is_snake_case(std::string_view x) {
  return !x.empty() && x.front() >= 'a' && x.front() <= 'z'
         && x.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_")
              == std::string_view::npos;
}

std::vector<std::string_view> labels_of(const metric& x) {
  std::vector<std::string_view> out;
  for (const auto& label : x.labels)
    out.push_back(label.name);
  return out;
}

} // namespace

TEST(catalogue, is_the_table_of_the_page) {
  EXPECT_THAT(page(), testing::EndsWith(metrics_as_markdown()))
    << "docs/metrics.md is to end with:\n"
    << metrics_as_markdown();
}

TEST(catalogue, has_each_metric_once_by_a_name_that_says_what_it_is) {
  std::set<std::string_view> seen;
  for (const auto& x : all_metrics()) {
    EXPECT_TRUE(seen.insert(x.name).second) << x.name;
    EXPECT_TRUE(is_snake_case(x.name)) << x.name;
    EXPECT_TRUE(x.name.starts_with("troupe_") || x.name.starts_with("process_"))
      << x.name;
    EXPECT_EQ(x.name.ends_with("_total"), x.type == metric_type::counter)
      << x.name;
    EXPECT_TRUE(x.help.ends_with('.')) << x.name;
    EXPECT_EQ(&metric_of(x.name), &x);
  }
}

TEST(catalogue, has_the_names_that_were_there_before_it) {
  for (const std::string_view name : old_names)
    EXPECT_NE(std::ranges::find(all_metrics(), name, &metric::name),
              all_metrics().end())
      << name;
}

TEST(catalogue, names_no_client) {
  for (const auto& x : all_metrics())
    for (const auto& label : x.labels) {
      EXPECT_TRUE(is_snake_case(label.name)) << x.name;
      EXPECT_NE(label.name, "client") << x.name;
      EXPECT_NE(label.name, "le") << x.name;
    }
}

TEST(catalogue, has_no_histogram_of_time_with_a_line) {
  for (const auto& x : all_metrics())
    if (x.type == metric_type::histogram && x.unit == "seconds") {
      EXPECT_TRUE(std::ranges::none_of(
        x.labels, [](const auto& y) { return y.name == "line"; }))
        << x.name;
    }
}

// Or no alert can say that something is at its bound.
TEST(catalogue, has_each_limit_beside_what_it_limits) {
  constexpr std::string_view ending = "_limit";
  for (const auto& x : all_metrics()) {
    if (!x.name.ends_with(ending))
      continue;
    const auto of = x.name.substr(0, x.name.size() - ending.size());
    EXPECT_EQ(metric_of(of).home, x.home) << x.name;
    EXPECT_EQ(metric_of(of).unit, x.unit) << x.name;
    EXPECT_EQ(labels_of(metric_of(of)), labels_of(x)) << x.name;
  }
}

} // namespace troupe::actors
