#include "node/watch/chronicle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>

#include "actors/metrics/status.hpp"
#include "node/watch/progress.hpp"

namespace troupe::node::chronicle_test {

namespace {

messages::version_published version_of(std::uint64_t head,
                                       std::vector<visit_id> merged) {
  return {
    .line = {1}, .head = {head}, .round = {}, .blocks = {}, .merged = merged};
}

messages::evaluation_finished score_of(std::uint64_t head,
                                       std::uint64_t correct) {
  messages::evaluation_finished x{
    .line = {1}, .head = {head}, .scores = {}, .problem = {}};
  // The test set says the opposite: it is not what the best is chosen by.
  x.scores.global = {.loss = 1, .correct = 10 - correct, .count = 10};
  x.scores.validation = {.loss = 1, .correct = correct, .count = 10};
  return x;
}

messages::job_finished visit_with(visit_id id, double loss) {
  models::trained done;
  done.loss = loss;
  return {id, std::move(done)};
}

chronicle::options watching(std::optional<models::watched> best_by = {}) {
  auto blocks = std::make_shared<models::layout>();
  auto& model = blocks->blocks.emplace_back();
  model.id = {1};
  model.line = {1};
  model.name = model.family = "model";
  blocks->lines.push_back({.id = {1}, .name = "model", .blocks = {{1}}});
  progress_report begin;
  begin.lines[{1}] = version_of(0, {});
  return {.blocks = blocks,
          .begin = begin,
          .clients = 4,
          .best_by = best_by,
          .metrics = [](const std::string&) {},
          .show = [](const progress_report&) {}};
}

} // namespace

TEST(spread, is_that_of_the_sorted_values) {
  EXPECT_FALSE(spread_of({}));
  const auto one = *spread_of({0.5});
  EXPECT_EQ(one.mean, 0.5);
  EXPECT_EQ(one.p90, 0.5);
  EXPECT_EQ(one.worst, 0.5);
  const auto x = *spread_of({1, 0, 0.5, 0.25, 0.75});
  EXPECT_DOUBLE_EQ(x.mean, 0.5);
  EXPECT_DOUBLE_EQ(x.p10, 0.1);
  EXPECT_DOUBLE_EQ(x.p50, 0.5);
  EXPECT_DOUBLE_EQ(x.p90, 0.9);
  EXPECT_EQ(x.worst, 0);
}

TEST(chronicle, gives_a_version_the_loss_of_the_visits_in_it) {
  chronicle x{watching()};
  x.delivered(visit_with({{1}, {1}}, 4));
  x.delivered(visit_with({{2}, {1}}, 2));
  x.delivered(visit_with({{3}, {1}}, 100));
  x.published(version_of(1, {{{1}, {1}}, {{2}, {1}}}), {});
  EXPECT_EQ(x.report().training_loss, 3);
  EXPECT_EQ(x.report().visits, 3u);
  EXPECT_EQ(x.report().updates, 2u);
  // What a node that begins again repeats is not counted twice.
  x.published(version_of(1, {{{3}, {1}}}), {});
  EXPECT_EQ(x.report().updates, 2u);
}

TEST(chronicle, counts_a_visit_once_of_which_two_lines_merge_parts) {
  auto opts = watching();
  auto blocks = *opts.blocks;
  blocks.lines.push_back({.id = {2}, .name = "other", .blocks = {}});
  opts.blocks = std::make_shared<const models::layout>(blocks);
  chronicle x{opts};
  x.published(version_of(1, {{{1}, {1}}, {{2}, {1}}}), {});
  auto other = version_of(1, {{{1}, {1}}, {{3}, {1}}});
  other.line = {2};
  x.published(other, {});
  EXPECT_EQ(x.report().updates, 3u);
}

// One line had merged its part when the server was killed.
TEST(chronicle, counts_a_visit_no_second_time_after_a_restart) {
  auto opts = watching();
  auto blocks = *opts.blocks;
  blocks.lines.push_back({.id = {2}, .name = "other", .blocks = {}});
  opts.blocks = std::make_shared<const models::layout>(blocks);
  opts.begin.updates = 2;
  opts.merged[{1}].insert({1});
  opts.merged[{2}].insert({1});
  chronicle x{opts};
  auto other = version_of(1, {{{1}, {1}}, {{3}, {1}}});
  other.line = {2};
  x.published(other, {});
  EXPECT_EQ(x.report().updates, 3u);
}

TEST(chronicle, says_what_an_honest_client_may_have_been_refused_for) {
  auto x = watching();
  std::string logged;
  x.log = [&](const std::string& line) { logged = line; };
  chronicle seen{x};
  seen.failed({{{{3}, {1}}, policies::verdict::malformed}, 1, {}}, {});
  const std::string why =
    "its offer was malformed, perhaps by a value above merge.delta_max";
  EXPECT_EQ(seen.report().failures.at({3}).why, why);
  EXPECT_EQ(logged, "client 3 failed in visit 1, 1 in a row: " + why);
}

TEST(chronicle, says_that_a_target_was_not_reached) {
  using enum models::watched;
  using messages::course_end;
  const auto end = [](models::watched by, double target, std::uint64_t before,
                      std::uint64_t last, course_end how = course_end::length) {
    auto opts = watching(by);
    opts.target = target;
    chronicle x{std::move(opts)};
    x.evaluated(score_of(1, before), {}, {});
    x.finished({.reason = "over", .end = how}, score_of(2, last), {});
    return x.report().finished->reason;
  };
  EXPECT_EQ(end(accuracy, 0.75, 7, 7),
            "over; the target, 0.75, was not reached");
  EXPECT_EQ(end(accuracy, 0.75, 7, 7, course_end::patience),
            "over; the target, 0.75, was not reached");
  EXPECT_EQ(end(accuracy, 0.75, 8, 7), "over");
  EXPECT_EQ(end(accuracy, 0.75, 7, 8), "over") << "the last has it";
  // A loss of 1 over ten rows.
  EXPECT_EQ(end(loss, 0.25, 7, 7), "over");
  EXPECT_EQ(end(loss, 0.0625, 7, 7),
            "over; the target, 0.0625, was not reached");
  EXPECT_EQ(end(accuracy, 0.75, 7, 7, course_end::target), "over")
    << "a process before may have seen it";
  EXPECT_EQ(end(accuracy, 0.75, 7, 7, course_end::none), "over")
    << "somebody ended it";
}

TEST(chronicle, calls_a_version_the_best_by_validation_data_alone) {
  chronicle x{watching(models::watched::accuracy)};
  for (const std::uint64_t correct : {3, 7, 5}) {
    const auto head = x.report().lines.at({1}).head.value + 1;
    x.published(version_of(head, {}), {});
    x.evaluated(score_of(head, correct), x.report().lines, {});
  }
  const auto best = x.report().best;
  ASSERT_TRUE(best);
  EXPECT_EQ(best->head, version{2});
  EXPECT_EQ(best->metric, 0.7);
  EXPECT_EQ(best->lines.at({1}).head, version{2});
}

TEST(chronicle, describes_scores_by_rows_figure_and_scope) {
  using enum actors::score_name::rows;
  using enum actors::score_name::figure;
  using enum actors::score_name::over;
  chronicle x{watching()};
  auto scored = score_of(1, 3);
  scored.scores.validation.loss = 4;
  for (std::uint64_t i = 1; i <= 4; ++i)
    scored.scores.per_client[{i}] = {.loss = 1, .correct = i, .count = 4};
  x.evaluated(scored, {}, {});
  actors::run_status seen;
  x.describe(seen);
  const std::map<actors::score_name, double> wanted{
    {{test, accuracy, global}, 0.7},       {{test, loss, global}, 0.1},
    {{validation, accuracy, global}, 0.3}, {{validation, loss, global}, 0.4},
    {{own_test, accuracy, mean}, 0.625},   {{own_test, accuracy, p10}, 0.325},
    {{own_test, accuracy, worst}, 0.25}};
  EXPECT_EQ(seen.evaluation.size(), wanted.size());
  for (const auto& [name, value] : wanted)
    EXPECT_DOUBLE_EQ(seen.evaluation[name], value)
      << name_of(name.split) << " " << name_of(name.metric) << " "
      << name_of(name.scope);
}

TEST(chronicle, calls_nothing_the_best_without_a_goal) {
  chronicle x{watching()};
  x.published(version_of(1, {}), {});
  x.evaluated(score_of(1, 9), x.report().lines, {});
  EXPECT_FALSE(x.report().best);
}

TEST(progress, is_lines_in_a_pipe_and_a_bar_on_a_terminal) {
  progress_report now;
  now.lines[{1}] = version_of(5, {});
  now.visits = 50;
  now.finished = messages::run_finished{"done", false};
  const auto shown = [&](bool terminal) {
    std::ostringstream out;
    progress_display display{
      out,
      {.terminal = terminal, .length = {.versions = 10}, .lead = line_id{1}}};
    display.show(now);
    return out.str();
  };
  EXPECT_EQ(shown(false), " 50%  version 5/10  50 visits\n");
  EXPECT_EQ(shown(true).substr(0, 28), "\r[############............] ");
}

// Else what clients make of their last visits would be another line of the
// same round.
TEST(progress, says_that_last_visits_are_over) {
  progress_report now;
  now.visits = 6;
  now.rounds = 2;
  const auto shown = [&](bool has_last_visits) {
    std::ostringstream out;
    progress_display display{out,
                             {.length = {.rounds = 2},
                              .has_last_visits = has_last_visits,
                              .every = instant{}}};
    display.show(now);
    return out.str();
  };
  EXPECT_EQ(shown(true), "100%  round 2/2  6 visits\n");
  now.finished = messages::run_finished{"done", false};
  now.finished->end = messages::course_end::length;
  EXPECT_EQ(shown(true), "100%  round 2/2  6 visits, the last ones too\n");
  EXPECT_EQ(shown(false), "100%  round 2/2  6 visits\n");
  now.finished->end = messages::course_end::none; // Somebody did not wait.
  EXPECT_EQ(shown(true), "100%  round 2/2  6 visits\n");
}

// Also where a method makes no versions, or rounds pass of which nothing comes.
TEST(progress, counts_rounds_as_the_length_of_the_run_does) {
  std::ostringstream out;
  progress_display display{out, {.length = {.rounds = 20}, .every = instant{}}};
  auto opts = watching();
  opts.show = [&](const progress_report& now) { display.show(now); };
  chronicle x{opts};
  auto version = version_of(1, {});
  version.round = {17};
  x.published(version, {});
  x.counted({5}, {});
  EXPECT_THAT(out.str(), ::testing::HasSubstr("\n 25%  round 5/20  0 visits"));
  EXPECT_EQ(out.str().substr(0, 17), "  0%  round 0/20 ")
    << "a round counts by its number";
  EXPECT_EQ(x.report().rounds, 5u);
}

TEST(progress, of_a_run_that_goes_on_begins_where_it_is) {
  std::ostringstream out;
  progress_display display{out, {.length = {.rounds = 20}}};
  auto opts = watching();
  opts.begin.rounds = 5;
  opts.begin.visits = 30;
  chronicle x{opts};
  display.begin(x.report());
  EXPECT_EQ(out.str(), " 25%  round 5/20  30 visits\n");
  x.delivered(visit_with({{1}, {9}}, 1));
  EXPECT_EQ(x.report().visits, 31u);
}

TEST(chronicle, shows_each_visit_until_the_end) {
  auto opts = watching();
  std::vector<std::uint64_t> shown;
  opts.show = [&](const progress_report& now) { shown.push_back(now.visits); };
  chronicle x{opts};
  const messages::job_finished done{.visit = {{1}, {1}},
                                    .outcome = models::trained{}};
  x.delivered(done);
  x.delivered(done);
  x.finished({"done"}, {}, {});
  x.delivered(done);
  EXPECT_EQ(shown, (std::vector<std::uint64_t>{1, 2, 2}));
}

// What another process did, or a wait for the first clients, says nothing of
// it.
TEST(progress, tells_what_is_left_from_what_it_saw) {
  std::ostringstream out;
  progress_display display{
    out, {.length = {.versions = 10}, .lead = line_id{1}, .every = instant{}}};
  progress_report now;
  now.lines[{1}] = version_of(5, {});
  display.show(now);
  EXPECT_THAT(out.str(), ::testing::Not(::testing::HasSubstr("left")));
  now.lines[{1}] = version_of(6, {});
  display.show(now);
  EXPECT_THAT(out.str(), ::testing::HasSubstr("60%  version 6/10  0 visits  0s "
                                              "left"));
}

TEST(progress, says_its_end_once) {
  std::ostringstream out;
  progress_display display{out,
                           {.length = {.versions = 10}, .lead = line_id{1}}};
  progress_report now;
  now.lines[{1}] = version_of(10, {});
  now.finished = messages::run_finished{"done", false};
  display.show(now);
  display.show(now);
  EXPECT_EQ(out.str(), "100%  version 10/10  0 visits\n");
}

TEST(progress, says_little_in_a_short_time) {
  std::ostringstream out;
  progress_display display{out, {.length = {.versions = 10}}};
  display.show({});
  display.show({});
  EXPECT_EQ(out.str(), "");
}

// They are scored each time, the others now and then.
TEST(chronicle, tells_who_is_held_out_from_the_clients) {
  auto opts = watching();
  opts.held_out = 1;
  std::vector<std::string> lines;
  opts.metrics = [&](const std::string& line) { lines.push_back(line); };
  chronicle x{opts};
  auto scored = score_of(1, 5);
  scored.scores.per_client[{4}] = {.loss = 1, .correct = 3, .count = 4};
  x.evaluated(scored, {}, {});
  EXPECT_FALSE(x.accuracies());
  ASSERT_TRUE(x.held_out_accuracies());
  EXPECT_EQ(x.held_out_accuracies()->mean, 0.75);
  EXPECT_EQ(x.clients_scored(), 0u);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines.back(),
              ::testing::HasSubstr("\"zero_shot\":{\"mean\":0.75"));
  EXPECT_THAT(lines.back(), ::testing::Not(::testing::HasSubstr("per_client")));
  scored.scores.per_client[{1}] = {.loss = 1, .correct = 1, .count = 4};
  scored.asked = 2;
  x.evaluated(scored, {}, {});
  ASSERT_TRUE(x.accuracies());
  EXPECT_EQ(x.accuracies()->mean, 0.25) << "of who is invited alone";
  EXPECT_EQ(x.clients_scored(), 1u);
  EXPECT_THAT(lines.back(), ::testing::HasSubstr("\"clients_scored\":1"));
  // Who brings data of its own comes after all of them.
  scored.scores.per_client[{9}] = {.loss = 1, .correct = 3, .count = 4};
  x.finished({"done"}, scored, {});
  EXPECT_EQ(x.accuracies()->mean, 0.5);
  EXPECT_EQ(x.held_out_accuracies()->mean, 0.75);
  EXPECT_THAT(lines.back(),
              ::testing::HasSubstr("\"client_accuracies\":[0.25,0.75]"));
}

TEST(progress, says_what_who_is_held_out_gets) {
  std::ostringstream out;
  progress_display display{out,
                           {.length = {.versions = 10},
                            .lead = line_id{1},
                            .every = instant{},
                            .clients = 4,
                            .held_out = 1}};
  progress_report now;
  now.lines[{1}] = version_of(5, {});
  now.evaluation = score_of(5, 3);
  now.evaluation->scores.per_client[{4}] = {
    .loss = 1, .correct = 3, .count = 4};
  display.show(now);
  EXPECT_THAT(out.str(),
              ::testing::HasSubstr("accuracy 0.7000  zero shot 0.75"));
  // Where all is scored by clients, they are none of them.
  now.lines[{1}] = version_of(6, {});
  now.evaluation->scores.global = {};
  now.evaluation->scores.per_client[{1}] = {
    .loss = 1, .correct = 1, .count = 4};
  display.show(now);
  EXPECT_THAT(out.str(),
              ::testing::HasSubstr("clients' accuracy 0.2500  zero shot 0.75"));
}

} // namespace troupe::node::chronicle_test
