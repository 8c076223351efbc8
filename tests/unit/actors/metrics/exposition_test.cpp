// What processes say of themselves is what the table of metrics says that they
// do: names, types, texts and labels.

#include "actors/metrics/exposition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "actors/metrics/catalogue.hpp"
#include "actors/metrics/shown_lines.hpp"
#include "core/limits.hpp"

namespace troupe::actors::exposition_test {

namespace {

using testing::HasSubstr;
using testing::Not;

using labels = std::map<std::string, std::string>;

struct family_said {
  std::string type;
  std::string help;
  std::set<labels> values;
};

using said = std::map<std::string, family_said>;

/// `a="b",c="d"`; no value has a quote or a backslash.
labels labels_in(const std::string& text) {
  labels out;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto is = text.find("=\"", at);
    const auto end = text.find('"', is + 2);
    out[text.substr(at, is - at)] = text.substr(is + 2, end - is - 2);
    at = end + 2; // Behind the comma.
  }
  out.erase("le");
  return out;
}

/// Of a sample's name the family's: histograms and summaries have three.
std::string family_in(const said& all, const std::string& name) {
  if (all.contains(name))
    return name;
  for (const std::string ending : {"_bucket", "_sum", "_count"})
    if (name.ends_with(ending))
      return name.substr(0, name.size() - ending.size());
  return name;
}

said read(const std::string& text) {
  said out;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string first;
    std::string kind;
    std::string name;
    words >> first;
    if (first == "#") {
      words >> kind >> name >> std::ws;
      auto& to = kind == "HELP" ? out[name].help : out[name].type;
      EXPECT_TRUE(to.empty()) << name << " begins twice";
      std::getline(words, to);
      continue;
    }
    const auto open = line.find('{');
    const auto end = line.find_first_of("{ ");
    auto& to = out[family_in(out, line.substr(0, end))];
    EXPECT_FALSE(to.type.empty()) << line << " comes before its type";
    to.values.insert(
      open == std::string::npos
        ? labels{}
        : labels_in(line.substr(open + 1, line.find('}') - open - 1)));
  }
  return out;
}

std::string name_of(metric_type x) {
  switch (x) {
    case metric_type::counter:
      return "counter";
    case metric_type::gauge:
      return "gauge";
    case metric_type::summary:
      return "summary";
    case metric_type::histogram:
      break;
  }
  return "histogram";
}

void expect_labels_of_table(const metric& of, const family_said& x) {
  for (const auto& one : x.values)
    for (const auto& [name, value] : one) {
      const auto label =
        std::ranges::find(of.labels, name, &metric_label::name);
      ASSERT_NE(label, of.labels.end()) << of.name << " by " << name;
      if (!label->values.empty()) {
        EXPECT_NE(std::ranges::find(label->values, value), label->values.end())
          << of.name << " by " << name << " " << value;
      }
    }
}

/// @param has says of a metric's home whether such a process is one
void expect_the_table(const std::string& text, bool has(metric_home)) {
  const auto found = read(text);
  std::size_t count = 0;
  for (const auto& x : all_metrics()) {
    const auto family = found.find(std::string{x.name});
    ASSERT_EQ(family != found.end(), has(x.home)) << x.name;
    if (family == found.end())
      continue;
    ++count;
    EXPECT_EQ(family->second.type, name_of(x.type)) << x.name;
    EXPECT_EQ(family->second.help, x.help) << x.name;
    expect_labels_of_table(x, family->second);
  }
  EXPECT_EQ(count, found.size()) << "something is not in the table";
}

line_status some_line(std::uint64_t merged) {
  line_status x;
  x.head = {3};
  x.pending = 2;
  x.needed = 4;
  x.pending_max = 1024;
  x.staleness.add(1);
  x.buffered.add(0.5);
  x.merges.add(0.25);
  x.commits.add(0.125);
  x.merged_bytes = merged;
  return x;
}

/// A run of one model and so many adapters.
seen_run run_of(std::uint64_t adapters) {
  seen_run x;
  x.name = "some";
  x.id = "20261122-some";
  x.method = "floral";
  x.mode = "fedbuff";
  x.clock = "wall";
  x.course.emplace().free = 7;
  x.door.emplace().sessions = 9;
  x.line_names[{1}] = "model";
  x.lines[{1}] = some_line(8);
  for (std::uint64_t i = 0; i < adapters; ++i) {
    const line_id line{i + 2};
    x.line_names[line] = "adapter." + std::to_string(i);
    x.lines[line] = some_line(i);
    x.load.experts[line] = {.visits = static_cast<double>(i), .rows = 100};
    x.readers[line] = 1;
  }
  x.heads["model"] = 3;
  x.load.active["adapter"] = adapters;
  x.load.entropies["pi"] = {.count = 2, .sum = 1};
  x.results["recovered"] = 1;
  x.evaluation[score_name{}] = 0.5;
  x.mailboxes["archivist"] = 4;
  return x;
}

/// Where visits ask for adapters: each as often as its number says, and twice
/// as often at any place.
seen_run run_of_requests(std::uint64_t adapters) {
  auto x = run_of(adapters);
  for (std::uint64_t i = 0; i < adapters; ++i)
    x.load.requests.experts[{i + 2}] = {.first = i, .asked = 2 * i};
  return x;
}

bool all_values_are_there(const metric& x) {
  return !x.labels.empty() && x.name != "troupe_evaluation_metric"
         && std::ranges::none_of(
           x.labels, [](const auto& y) { return y.values.empty(); });
}

std::size_t count_of_values(const metric& x) {
  std::size_t out = 1;
  for (const auto& label : x.labels)
    out *= label.values.size();
  return out;
}

} // namespace

TEST(exposition, of_a_run_is_the_table) {
  expect_the_table(exposition_of(run_of(4)), is_of_run);
}

TEST(exposition, of_a_served_run_is_the_table) {
  auto x = run_of(4);
  x.socket.emplace();
  expect_the_table(exposition_of(x), is_of_serve);
}

TEST(exposition, of_a_joining_process_is_the_table) {
  process_status x;
  x.connected = true;
  expect_the_table(exposition_of(x), is_of_join);
}

// Before a counter's first event there is nothing that it could increase from.
TEST(exposition, has_every_value_of_a_label_from_the_start) {
  seen_run x;
  x.socket.emplace();
  const auto found = read(exposition_of(x));
  for (const auto& of : all_metrics()) {
    if (!all_values_are_there(of))
      continue;
    // What clients keep is of who joins.
    const auto of_others = of.name == "troupe_storage_seconds" ? 1u : 0u;
    EXPECT_EQ(found.at(std::string{of.name}).values.size(),
              count_of_values(of) - of_others)
      << of.name;
  }
}

// It neither merges nor commits.
TEST(exposition, of_a_joining_process_has_its_values_from_the_start) {
  const std::map<std::string_view, std::size_t> of_servers_too{
    {"troupe_visit_seconds", 2},
    {"troupe_visit_phase_seconds", 4},
    {"troupe_storage_seconds", 1}};
  const auto found = read(exposition_of(process_status{}));
  for (const auto& of : all_metrics()) {
    if (!all_values_are_there(of) || !is_of_join(of.home))
      continue;
    const auto part = of_servers_too.find(of.name);
    EXPECT_EQ(found.at(std::string{of.name}).values.size(),
              part == of_servers_too.end() ? count_of_values(of) : part->second)
      << of.name;
  }
}

TEST(exposition, has_what_is_counted_of_times) {
  auto x = run_of(1);
  x.socket.emplace().carried_up.values.add(0.75);
  x.storage[0].add(0.002);
  const auto text = exposition_of(x, {.requests = {}, .connections = 3});
  for (const auto* line :
       {"troupe_visit_phase_seconds_bucket{phase=\"buffer\",le=\"0.256\"} 0\n",
        "troupe_visit_phase_seconds_bucket{phase=\"buffer\",le=\"0.512\"} 2\n",
        "troupe_visit_phase_seconds_bucket{phase=\"upload\",le=\"+Inf\"} 1\n",
        "troupe_visit_phase_seconds_sum{phase=\"merge\"} 0.5\n",
        "troupe_visit_seconds_sum{phase=\"merge\"} 0.5\n",
        "troupe_storage_seconds_count{task=\"commit\"} 1\n",
        "troupe_run_info{method=\"floral\",mode=\"fedbuff\",clock=\"wall\","
        "name=\"some\",id=\"20261122-some\"} 1\n",
        "troupe_http_connections 3\n",
        "troupe_mailbox_messages{actor=\"archivist\"} 4\n",
        "troupe_mailbox_messages{actor=\"expert\",line=\"adapter.0\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(exposition, has_the_mail_of_every_actor_from_the_start) {
  const auto text = exposition_of(seen_run{});
  for (const auto actor : metric_of("troupe_mailbox_messages").labels[0].values)
    if (actor != "aggregator" && actor != "expert") {
      EXPECT_THAT(text, HasSubstr("troupe_mailbox_messages{actor=\""
                                  + std::string{actor} + "\"} 0\n"));
    }
  process_status x;
  x.worker_mailbox = 3;
  EXPECT_THAT(
    exposition_of(x),
    HasSubstr("troupe_mailbox_messages{actor=\"kernel_worker\"} 3\n"));
}

// Some methods have ten figures of each client.
TEST(exposition, says_no_figure_of_one_client) {
  seen_run x;
  x.results = {{"recovered", 1}, {"rank_post", 2.5}, {"rank_post.7", 2}};
  const auto text = exposition_of(x);
  EXPECT_THAT(text,
              HasSubstr("troupe_method_result{result=\"rank_post\"} 2.5"));
  EXPECT_THAT(text, Not(HasSubstr("rank_post.7")));
  process_status y;
  y.results = x.results;
  EXPECT_THAT(exposition_of(y),
              HasSubstr("troupe_method_result{result=\"recovered\"} 1\n"));
  for (int i = 0; i < 1000; ++i)
    x.results["layer" + std::to_string(i)] = 1;
  EXPECT_EQ(read(exposition_of(x)).at("troupe_method_result").values.size(),
            limits::lines_labelled);
}

TEST(exposition, has_each_client_in_one_state) {
  seen_run x;
  auto& c = x.course.emplace();
  c.known = 20;
  c.here = 12;
  c.at_work = 5;
  c.free = 4;
  c.visits_lost = 2;
  const auto text = exposition_of(x);
  for (const auto* line : {"troupe_clients{state=\"at_work\"} 5\n",
                           "troupe_clients{state=\"lost\"} 2\n",
                           "troupe_clients{state=\"free\"} 4\n",
                           "troupe_clients{state=\"waiting\"} 3\n",
                           "troupe_clients{state=\"away\"} 6\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(exposition, of_many_lines_has_families_and_the_most_and_least_used) {
  const auto most = run_of(limits::lines_labelled - 1);
  EXPECT_EQ(shown_lines(most).size(), limits::lines_labelled);
  const auto more = run_of(1000);
  const auto text = exposition_of(more);
  EXPECT_EQ(shown_lines(more).size(), 2u + 20 + 20);
  EXPECT_THAT(text, HasSubstr("troupe_versions_total{line=\"adapter/*\"} "
                              "3000\n"));
  EXPECT_THAT(text, HasSubstr("troupe_lines{family=\"adapter\"} 1000\n"));
  EXPECT_THAT(text, HasSubstr("{line=\"adapter.999\"}"));
  EXPECT_THAT(text, HasSubstr("{line=\"adapter.980\"}"));
  EXPECT_THAT(text, Not(HasSubstr("{line=\"adapter.979\"}")));
  EXPECT_THAT(text, HasSubstr("{line=\"adapter.1\"}"));
  EXPECT_THAT(text, Not(HasSubstr("{line=\"adapter.50\"}")));
}

// Each has a bound of its own, and a sum of all is far from theirs.
TEST(exposition, of_many_lines_names_the_fullest_while_it_is_half_full) {
  auto x = run_of(1000);
  for (auto& [id, line] : x.lines)
    line.pending_max = 8;
  x.lines[{500}].pending = 3;
  EXPECT_EQ(shown_lines(x).size(), 2u + 20 + 20);
  x.lines[{500}].pending = 7;
  x.lines[{501}].pending = 6;
  x.lines[{502}] = {.pending = 8, .pending_max = 16};
  EXPECT_THAT(exposition_of(x),
              HasSubstr("troupe_buffered_offers{line=\"adapter.498\"} 7\n"));
  EXPECT_EQ(shown_lines(x).size(), 2u + 20 + 20 + 1);
}

// Families are of the experts alone, and have the alarms of those without
// names.
TEST(exposition, of_many_lines_that_are_asked_for_has_requests_of_families) {
  auto x = run_of_requests(1000);
  x.load.requests.alarms = {{.line = {2}, .what = "deserted", .text = ""},
                            {.line = {502}, .what = "crowded", .text = ""}};
  const auto text = exposition_of(x);
  for (const auto* line :
       {"troupe_expert_first_places_total{line=\"adapter/*\"} 499500\n",
        "troupe_expert_requests_total{line=\"adapter/*\"} 999000\n",
        "troupe_expert_first_places_total{line=\"adapter.999\"} 999\n",
        "troupe_routing_alarm{line=\"adapter/*\",what=\"crowded\"} 1\n",
        "troupe_routing_alarm{line=\"adapter/*\",what=\"deserted\"} 1\n",
        "troupe_routing_alarm{line=\"adapter.0\",what=\"deserted\"} 1\n",
        "troupe_routing_alarm{line=\"adapter.999\",what=\"crowded\"} 0\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("requests_total{line=\"model")));
  EXPECT_THAT(text, Not(HasSubstr("{line=\"adapter.500\"")));
}

TEST(exposition, of_many_blocks_has_the_newest_of_each_family) {
  seen_run x;
  x.heads["model"] = 3;
  for (std::uint64_t i = 0; i + 1 < limits::lines_labelled; ++i)
    x.heads["adapter." + std::to_string(i)] = i;
  EXPECT_EQ(read(exposition_of(x)).at("troupe_head_version").values.size(),
            limits::lines_labelled);
  x.heads["adapter.1000"] = 12;
  const auto text = exposition_of(x);
  EXPECT_EQ(read(text).at("troupe_head_version").values.size(), 2u);
  EXPECT_THAT(text,
              HasSubstr("troupe_head_version{block=\"adapter/*\"} 198\n"));
}

TEST(exposition, of_a_hundred_lines_is_small_enough_to_be_read_often) {
  auto x = run_of_requests(99);
  x.socket.emplace();
  const auto text = exposition_of(x);
  EXPECT_EQ(read(text).at("troupe_routing_alarm").values.size(), 2 * 99u);
  EXPECT_LT(text.size(), 500'000u);
}

TEST(shown_lines, are_of_a_family_by_the_number_at_their_end) {
  EXPECT_EQ(family_of("adapter.12"), "adapter");
  EXPECT_EQ(family_of("model.buffers"), "model.buffers");
  EXPECT_EQ(family_of("model"), "model");
  EXPECT_EQ(family_of("a.b.3"), "a.b");
  EXPECT_EQ(family_of("odd."), "odd.");
}

} // namespace troupe::actors::exposition_test
