// What a report says of a folder, from files that one reads at a glance.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "node/commands/report.hpp"
#include "node/report/page.hpp"
#include "node/watch/chronicle.hpp"
#include "node/watch/metric_lines.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test::page_test {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view config = R"(
name = "small <b>"
method = "fedavg"
seed = 7
versions = 3
[clients]
clients = 3
[pace]
mode = "fedbuff"
buffer_size = 2
)";

/// Three clients, two versions of two offers each. Client 1 fetched version 0
/// and was merged by version 2: it was one version behind.
constexpr std::string_view events = R"(
{"at":0.0,"event":"invited","client":1,"visit":1,"index":1,"seed":1,"role":0,"progress":0.0}
{"at":0.0,"event":"invited","client":2,"visit":1,"index":2,"seed":2,"role":0,"progress":0.0}
{"at":0.0,"event":"fetched","client":1,"visit":1,"leg":0,"line":1,"version":0}
{"at":0.0,"event":"fetched","client":2,"visit":1,"leg":0,"line":1,"version":0}
{"at":1.0,"event":"invited","client":2,"visit":2,"index":3,"seed":3,"role":0,"progress":0.0}
{"at":1.0,"event":"fetched","client":2,"visit":2,"leg":0,"line":1,"version":0}
{"at":2.0,"event":"version","line":1,"version":1,"merged":[[2,1],[2,2]],"digests":["aa"]}
{"at":2.0,"event":"invited","client":2,"visit":3,"index":4,"seed":4,"role":0,"progress":0.3}
{"at":2.0,"event":"fetched","client":2,"visit":3,"leg":0,"line":1,"version":1}
{"at":4.0,"event":"version","line":1,"version":2,"merged":[[1,1],[2,3]],"digests":["bb"]}
{"at":4.0,"event":"visit_failed","client":1,"visit":2,"why":"failed"}
)";

constexpr std::string_view metrics = R"(
{"at":2.0,"kind":"version","line":"model","version":1,"merged":2,"training_loss":2.5,"digests":{"model":"aa"}}
{"at":4.0,"kind":"version","line":"model","version":2,"merged":2,"training_loss":1.5,"digests":{"model":"bb"}}
{"at":4.0,"kind":"evaluation","version":2,"accuracy":0.75,"loss":0.5,"per_client":{"mean":0.5,"p10":0.2,"p50":0.5,"p90":0.8,"worst":0.25},"client_accuracies":[0.25,0.5,0.75]}
)";

constexpr std::string_view summary = R"({"success": true, "versions": 2,
  "visits": 4, "accuracy": 0.75, "loss": 0.5, "digest": "d1g35t",
  "reason": "the run's length is <reached>", "interrupted": false})";

class report : public ::testing::Test {
protected:
  void file(const std::string& name, std::string_view text) {
    std::ofstream{scratch_.path() + "/" + name} << text.substr(1);
  }

  void finished_run() {
    file("config.toml", config);
    file("events.jsonl", events);
    file("metrics.jsonl", metrics);
    file("summary.json", " " + std::string{summary});
  }

  node::run_record record() {
    const auto x = node::read_run(scratch_.path());
    if (!x) {
      ADD_FAILURE() << x.error().context;
      return {};
    }
    return *x;
  }

  std::string page() {
    return node::page_of(record());
  }

  scratch_folder scratch_;
};

struct clients_mean {
  std::optional<double> accuracy = {};
  std::optional<double> perplexity = {};
};

/// Of metrics.jsonl, as a run writes it whose method merges nothing.
std::string line_of_round(std::uint64_t round, const clients_mean& x) {
  messages::evaluation_finished done{
    .line = {1}, .head = {0}, .scores = {}, .problem = {}};
  done.rounds = round;
  std::optional<node::spread> clients;
  if (x.accuracy)
    clients = node::spread_of({*x.accuracy});
  const std::optional<node::spread> strangers;
  return node::record_of(done, x.accuracy.has_value(),
                         {.clients = clients,
                          .zero_shot = strangers,
                          .clients_perplexity = x.perplexity},
                         from_seconds(static_cast<double>(round)))
         + "\n";
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_F(report, adds_up_who_took_part_and_how_stale_it_was) {
  finished_run();
  const auto x = record();
  const auto& e = x.events;
  EXPECT_EQ(e.invited(), 4u);
  EXPECT_EQ(e.merged(), 4u);
  EXPECT_EQ(e.clients().at({1}).invited, 1u);
  EXPECT_EQ(e.clients().at({1}).merged, 1u);
  EXPECT_EQ(e.clients().at({2}).merged, 3u);
  EXPECT_EQ(e.staleness(),
            (std::map<std::uint64_t, std::uint64_t>{{0, 3}, {1, 1}}));
  EXPECT_EQ(e.lines().at(1).staleness_max, 1u);
  EXPECT_EQ(e.other_ends(),
            (std::map<std::string, std::uint64_t>{{"failed: failed", 1}}));
  EXPECT_EQ(x.unreadable, 0u);
}

TEST_F(report, counts_a_visit_once_that_two_lines_merged) {
  finished_run();
  file("events.jsonl", R"(
{"at":0,"event":"fetched","client":1,"visit":1,"leg":0,"line":1,"version":0}
{"at":0,"event":"fetched","client":1,"visit":1,"leg":0,"line":2,"version":4}
{"at":1,"event":"version","line":1,"version":1,"merged":[[1,1]],"digests":["aa"]}
{"at":2,"event":"version","line":2,"version":8,"merged":[[1,1]],"digests":["bb"]}
)");
  const auto x = record();
  EXPECT_EQ(x.events.merged(), 1u);
  EXPECT_EQ(x.events.lines().at(1).staleness_sum, 0u);
  EXPECT_EQ(x.events.lines().at(2).staleness_sum, 3u);
}

TEST_F(report, shows_all_that_a_finished_run_left) {
  finished_run();
  const auto text = page();
  for (const auto* words :
       {"fedavg under fedbuff, 3 clients, seed 7", "Accuracy over versions",
        "Accuracy over virtual time", "Loss over versions",
        "Loss over virtual time", "Accuracy of the clients", "Participation",
        "Staleness of what was merged", "Versions over virtual time", "d1g35t",
        "✓ Ended:", "<small>(extension)</small>", "2 of 3 clients were invited",
        "75.0 % of the offers were fresh"})
    EXPECT_THAT(text, HasSubstr(words));
  EXPECT_EQ(count_of(text, "<svg viewBox=\"0 0 560"), 8u);
}

TEST_F(report, says_what_is_odd_about_the_end) {
  finished_run();
  EXPECT_THAT(page(), Not(HasSubstr("Note:")));
  file("summary.json",
       R"( {"success": true, "notes": ["nothing <was> learned"]})");
  EXPECT_THAT(page(),
              HasSubstr("<b>Note:</b> nothing &lt;was&gt; learned</p>"));
}

TEST_F(report, needs_nothing_but_itself_and_escapes_what_it_quotes) {
  finished_run();
  const auto text = page();
  EXPECT_THAT(text, Not(HasSubstr("http")));
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, Not(HasSubstr("<link")));
  EXPECT_THAT(text, Not(HasSubstr("url(")));
  EXPECT_THAT(text, Not(HasSubstr("small <b>")));
  EXPECT_THAT(text, HasSubstr("<h1>small &lt;b&gt;</h1>"));
  EXPECT_THAT(text, HasSubstr("the run&#39;s length is &lt;reached&gt;"));
}

TEST_F(report, says_which_figures_need_events_where_there_are_none) {
  finished_run();
  file("config.toml", "\nevents = false\n" + std::string{config.substr(1)});
  file("events.jsonl", " ");
  const auto text = page();
  // Participation, staleness, and what became of the visits.
  EXPECT_EQ(count_of(text, "<code>events = false</code>"), 3u);
  EXPECT_THAT(text, HasSubstr("Accuracy over versions"));
}

TEST_F(report, of_a_run_that_was_killed_shows_what_there_is) {
  finished_run();
  std::filesystem::remove(scratch_.path() + "/summary.json");
  file("metrics.jsonl", std::string{metrics.substr(0, 300)});
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("No result yet:"));
  EXPECT_THAT(text, HasSubstr("1 line of metrics.jsonl"));
  EXPECT_THAT(text, HasSubstr("Loss over versions"));
}

TEST_F(report, tells_an_interrupted_run_from_a_failed_one) {
  finished_run();
  file("summary.json", R"( {"success":true,"interrupted":true,"reason":"x"})");
  EXPECT_THAT(page(), HasSubstr("Interrupted:"));
  file("summary.json", R"( {"success":false,"reason":"block 'a' diverged"})");
  EXPECT_THAT(page(), HasSubstr("Failed:</b> block &#39;a&#39; diverged"));
}

TEST_F(report, of_a_run_without_labels_has_no_accuracy) {
  finished_run();
  file("metrics.jsonl", R"(
{"at":2.0,"kind":"version","line":"model","version":1,"merged":2,"training_loss":2.5}
{"at":4.0,"kind":"evaluation","version":1,"loss":1e-9}
)");
  file("summary.json", R"( {"success":true,"accuracy":null,"loss":1e-9})");
  const auto text = page();
  EXPECT_THAT(text, Not(HasSubstr("Accuracy over")));
  EXPECT_THAT(text, HasSubstr("no labels"));
  EXPECT_THAT(text, HasSubstr("1e-09"));
}

// As at the end, where all clients are scored.
TEST_F(report, counts_a_version_once_that_is_looked_at_again) {
  finished_run();
  file("metrics.jsonl", R"(
{"at":2.0,"kind":"evaluation","version":0,"loss":3.0}
{"at":4.0,"kind":"evaluation","version":2,"loss":2.0}
{"at":4.0,"kind":"evaluation","version":2,"loss":2.0}
)");
  EXPECT_EQ(record().evaluations, 2u);
}

TEST_F(report, draws_no_staleness_where_all_is_fresh) {
  finished_run();
  EXPECT_THAT(page(), HasSubstr("versions made since the client fetched"));
  file("events.jsonl", R"(
{"at":0,"event":"fetched","client":1,"visit":1,"leg":0,"line":1,"version":0}
{"at":1,"event":"version","line":1,"version":1,"merged":[[1,1]],"digests":["aa"]}
)");
  const auto text = page();
  EXPECT_THAT(text, Not(HasSubstr("versions made since the client fetched")));
  EXPECT_THAT(text, HasSubstr("100.0 % of the offers were fresh"));
}

// There is but version 0, and the round says how far it was.
TEST_F(report, of_a_run_that_merges_nothing_counts_rounds) {
  finished_run();
  file("metrics.jsonl", R"(
{"at":2.0,"kind":"evaluation","version":0,"round":5,"loss":3.0}
{"at":4.0,"kind":"evaluation","version":0,"round":10,"loss":2.0}
)");
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("test data 3 at round 5, "));
  EXPECT_THAT(text, HasSubstr("test data 2 at round 10, "));
  EXPECT_THAT(text, HasSubstr("Loss over rounds"));
  EXPECT_THAT(text, Not(HasSubstr("Loss over versions")));
}

// As such a run writes them: of what is shared there is nothing to say.
TEST_F(report, of_a_run_that_merges_nothing_has_curves_of_its_clients) {
  finished_run();
  file("metrics.jsonl", "\n" + line_of_round(5, {.accuracy = 0.25})
                          + line_of_round(10, {.accuracy = 0.5}));
  std::filesystem::remove(scratch_.path() + "/summary.json");
  auto text = page();
  EXPECT_THAT(text, HasSubstr("Accuracy over rounds"));
  EXPECT_THAT(text, HasSubstr("what they use, mean 0.25 at round 5, "));
  EXPECT_THAT(text, HasSubstr("what they use, mean 0.5 at round 10, "));
  EXPECT_THAT(text, HasSubstr("scored one by one when the run comes to its"));
  EXPECT_THAT(text, Not(HasSubstr("no labels")));
  file("metrics.jsonl", "\n" + line_of_round(5, {.perplexity = 30})
                          + line_of_round(10, {.perplexity = 20}));
  text = page();
  EXPECT_THAT(text, HasSubstr("Perplexity over rounds"));
  EXPECT_THAT(text, HasSubstr("what they use, mean 20 at round 10, "));
  EXPECT_THAT(text, Not(HasSubstr("Accuracy over")));
}

TEST_F(report, of_a_run_that_was_never_evaluated_shows_how_it_trained) {
  finished_run();
  file("config.toml", "\nevaluate_every = 0\n" + std::string{config.substr(1)});
  file("metrics.jsonl", R"(
{"at":2.0,"kind":"version","line":"model","version":1,"merged":2,"training_loss":2.5}
)");
  file("summary.json", R"( {"success":true,"reason":"x"})");
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("<code>evaluate_every = 0</code>"));
  EXPECT_THAT(text, HasSubstr("training, mean of a version&#39;s visits"));
}

TEST_F(report, of_an_empty_run_says_that_nothing_was_made) {
  file("config.toml", config);
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("No version was made"));
  EXPECT_THAT(text, HasSubstr("no events in <code>events.jsonl</code>"));
  EXPECT_EQ(count_of(text, "<svg"), 0u);
}

TEST_F(report, tells_version_lines_apart) {
  finished_run();
  file("events.jsonl", R"(
{"at":0,"event":"fetched","client":1,"visit":1,"leg":0,"line":2,"version":0}
{"at":1,"event":"version","line":1,"version":1,"merged":[[2,1]],"digests":["aa"]}
{"at":2,"event":"version","line":2,"version":1,"merged":[[3,1]],"digests":["bb"]}
{"at":3,"event":"version","line":2,"version":2,"merged":[[1,1]],"digests":["cc"]}
)");
  file("metrics.jsonl", R"(
{"at":1,"kind":"version","line":"gate","version":1,"merged":1,"training_loss":2.5,"digests":{"gate":"aa"}}
{"at":2,"kind":"version","line":"expert/1","version":1,"merged":1,"digests":{"expert/1":"bb"}}
{"at":3,"kind":"version","line":"expert/1","version":2,"merged":1,"digests":{"expert/1":"cc"}}
)");
  EXPECT_THAT(page(),
              HasSubstr("<tr><th scope=\"row\">expert/1</th><td>2</td><td>2"
                        "</td><td>0.5</td><td>1</td></tr>"));
}

TEST_F(report, of_a_configuration_from_elsewhere_shows_it_as_it_is) {
  file("config.toml", "\nzebra = '<&>'\n");
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("cannot read the run's"));
  EXPECT_THAT(text, HasSubstr("zebra = &#39;&lt;&amp;&gt;&#39;"));
}

TEST_F(report, stays_small_however_long_the_run_was) {
  file("config.toml", config);
  {
    std::ofstream all{scratch_.path() + "/metrics.jsonl"};
    for (int v = 1; v <= 3000; ++v)
      all << R"({"at":)" << v
          << R"(,"kind":"version","line":"model","version":)" << v
          << R"(,"merged":1,"training_loss":)" << 1.0 / v << "}\n";
  }
  const auto x = record();
  EXPECT_LE(x.training_loss.points().size(), node::curve::points_max);
  EXPECT_EQ(x.training_loss.points().back().version, 3000);
  EXPECT_DOUBLE_EQ(x.training_loss.points().front().high, 1);
  EXPECT_LT(node::page_of(x).size(), 150'000u);
}

TEST_F(report, command_writes_the_page_and_says_where) {
  finished_run();
  std::ostringstream out;
  std::ostringstream err;
  const std::vector<std::string> args{scratch_.path()};
  EXPECT_EQ(node::report_command(args, {out, err}), node::exit_code::ok);
  EXPECT_EQ(out.str(), scratch_.path() + "/report.html\n");
  EXPECT_TRUE(std::filesystem::exists(scratch_.path() + "/report.html"));
}

TEST_F(report, command_refuses_a_folder_that_holds_no_run) {
  std::ostringstream out;
  std::ostringstream err;
  const std::vector<std::string> args{scratch_.path()};
  EXPECT_EQ(node::report_command(args, {out, err}), node::exit_code::data);
  EXPECT_THAT(err.str(), HasSubstr("there is no config.toml in it"));
}

} // namespace troupe::test::page_test
