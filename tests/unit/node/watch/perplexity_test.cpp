#include "node/watch/perplexity.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "node/watch/progress.hpp"
#include "node/watch/summary.hpp"

namespace troupe::node::perplexity_test {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Four tokens whose probabilities have this geometric mean.
models::scores tokens_of(double probability) {
  return {.loss = -4 * std::log(probability), .correct = 3, .count = 4};
}

messages::evaluation_finished scored() {
  messages::evaluation_finished x{
    .line = {1}, .head = {1}, .scores = {}, .problem = {}};
  x.scores.global = tokens_of(1.0 / 16);
  x.scores.per_client[{1}] = tokens_of(1.0 / 4);
  x.scores.per_client[{2}] = tokens_of(1.0 / 64);
  return x;
}

chronicle::options watching(std::vector<std::string>& lines, bool tokens) {
  auto blocks = std::make_shared<models::layout>();
  auto& model = blocks->blocks.emplace_back();
  model.id = {1};
  model.line = {1};
  model.name = model.family = "model";
  blocks->lines.push_back({.id = {1}, .name = "model", .blocks = {{1}}});
  return {
    .blocks = blocks,
    .clients = 2,
    .has_labels = false,
    .counts_tokens = tokens,
    .metrics = [&lines](const std::string& line) { lines.push_back(line); },
    .show = [](const progress_report&) {}};
}

run_summary summary_of(bool tokens) {
  std::vector<std::string> lines;
  chronicle x{watching(lines, tokens)};
  x.evaluated(scored(), {}, {});
  run_summary s;
  put_scores(s, x, false);
  return s;
}

} // namespace

TEST(perplexity, is_e_to_the_mean_loss_of_a_token) {
  EXPECT_FALSE(perplexity_of({}));
  EXPECT_NEAR(*perplexity_of(tokens_of(1.0 / 16)), 16, 1e-12);
}

// And not e to the mean of their losses, which would be 16.
TEST(perplexity, of_clients_is_the_mean_of_theirs) {
  EXPECT_FALSE(mean_perplexity({}));
  EXPECT_FALSE(mean_perplexity({{client_id{1}, models::scores{}}}));
  auto all = scored().scores.per_client;
  EXPECT_NEAR(*mean_perplexity(all), (4 + 64) / 2.0, 1e-12);
  // A client counts once, however many tokens it has; one without not at all.
  all[{2}].loss *= 10;
  all[{2}].count *= 10;
  all[{3}] = {};
  EXPECT_NEAR(*mean_perplexity(all), 34, 1e-12);
}

TEST(perplexity, of_clients_is_from_the_best_to_the_worst) {
  auto all = scored().scores.per_client;
  all[{3}] = {}; // Without tokens.
  all[{4}] = tokens_of(1.0 / 8);
  const auto found = perplexities_of(all);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NEAR(found[0], 4, 1e-12);
  EXPECT_NEAR(found[1], 8, 1e-12);
  EXPECT_NEAR(found[2], 64, 1e-12);
}

TEST(perplexity, is_in_the_record_where_scores_are_of_tokens) {
  std::vector<std::string> lines;
  chronicle x{watching(lines, true)};
  x.evaluated(scored(), {}, {});
  ASSERT_EQ(lines.size(), 1u);
  const auto line = json::parse(lines[0]);
  ASSERT_TRUE(line);
  EXPECT_NEAR(*line->find("perplexity")->number(), 16, 1e-12);
  EXPECT_NEAR(*line->find("clients_perplexity")->number(), 34, 1e-12);
  EXPECT_EQ(line->find("accuracy"), nullptr);
  chronicle other{watching(lines, false)};
  other.evaluated(scored(), {}, {});
  EXPECT_THAT(lines.back(), Not(HasSubstr("perplexity")));
}

// A tenth of clients fare worse than p10, as with accuracies: they have more.
TEST(perplexity, is_a_metric_of_all_and_of_clients_with_the_worst) {
  using enum actors::score_name::rows;
  using enum actors::score_name::over;
  constexpr auto of = actors::score_name::figure::perplexity;
  std::vector<std::string> lines;
  const auto seen = [&](bool tokens, messages::evaluation_finished what) {
    chronicle x{watching(lines, tokens)};
    x.evaluated(std::move(what), {}, {});
    actors::run_status status;
    x.describe(status);
    std::erase_if(status.evaluation,
                  [](const auto& y) { return y.first.metric != of; });
    return status.evaluation;
  };
  const auto all = seen(true, scored());
  ASSERT_EQ(all.size(), 4u);
  EXPECT_NEAR(all.at({test, of, global}), 16, 1e-12);
  EXPECT_NEAR(all.at({own_test, of, mean}), 34, 1e-12);
  EXPECT_NEAR(all.at({own_test, of, p10}), 4 + 0.9 * 60, 1e-12);
  EXPECT_NEAR(all.at({own_test, of, worst}), 64, 1e-12);
  auto unscored = scored();
  unscored.scores.per_client.clear();
  EXPECT_EQ(seen(true, unscored).size(), 1u);
  EXPECT_TRUE(seen(false, scored()).empty());
}

TEST(perplexity, of_clients_is_left_out_where_none_was_scored) {
  std::vector<std::string> lines;
  chronicle x{watching(lines, true)};
  auto alone = scored();
  alone.scores.per_client.clear();
  x.evaluated(alone, {}, {});
  EXPECT_THAT(lines.back(), HasSubstr("\"perplexity\""));
  EXPECT_THAT(lines.back(), Not(HasSubstr("clients_perplexity")));
  EXPECT_FALSE(x.clients_perplexity());
}

// By tokens who has more counts more, and clients each once.
TEST(perplexity, of_all_tokens_together_is_another_than_that_of_clients) {
  EXPECT_FALSE(pooled_perplexity({}));
  auto all = scored().scores.per_client;
  EXPECT_NEAR(*pooled_perplexity(all), 16, 1e-12);
  all[{1}].loss *= 3;
  all[{1}].count *= 3;
  EXPECT_NEAR(*pooled_perplexity(all), 8, 1e-12);
}

TEST(perplexity, of_each_client_is_in_each_record_that_scored_them) {
  std::vector<std::string> lines;
  chronicle x{watching(lines, true)};
  x.evaluated(scored(), {}, {});
  const auto line = json::parse(lines.at(0));
  ASSERT_TRUE(line);
  const auto* results = line->find("method_results");
  ASSERT_NE(results, nullptr);
  EXPECT_NEAR(*results->find("clients_perplexity.1")->number(), 4, 1e-12);
  EXPECT_NEAR(*results->find("clients_perplexity.2")->number(), 64, 1e-12);
  EXPECT_NEAR(*results->find("clients_perplexity_pooled")->number(), 16, 1e-12);
  chronicle other{watching(lines, false)};
  other.evaluated(scored(), {}, {});
  EXPECT_THAT(lines.back(), Not(HasSubstr("method_results")));
}

TEST(perplexity, has_the_least_on_the_way_beside_the_last) {
  std::vector<std::string> lines;
  chronicle x{watching(lines, true)};
  const auto look = [&](std::uint64_t head, double probability, bool clients) {
    auto now = scored();
    now.head = {head};
    now.scores.per_client = {{client_id{1}, tokens_of(probability)}};
    if (!clients)
      now.scores.per_client.clear();
    x.evaluated(now, {}, {});
    run_summary s;
    put_scores(s, x, false);
    return s.method_results;
  };
  EXPECT_NEAR(look(1, 1.0 / 8, true).at("clients_perplexity_least"), 8, 1e-12);
  (void)look(2, 1.0 / 4, true);
  (void)look(3, 0, true); // Infinite.
  const auto worse = look(4, 1.0 / 16, true);
  EXPECT_NEAR(worse.at("clients_perplexity.1"), 16, 1e-12);
  EXPECT_NEAR(worse.at("clients_perplexity_least"), 4, 1e-12);
  EXPECT_EQ(worse.at("clients_perplexity_least_at"), 2);
  const auto unscored = look(5, 1, false);
  EXPECT_EQ(unscored.at("clients_perplexity_least_at"), 2);
  EXPECT_FALSE(unscored.contains("clients_perplexity_pooled"));
}

TEST(perplexity, is_how_clients_are_spread_where_there_are_no_accuracies) {
  const auto all = to_json(summary_of(true));
  const auto of = [&](const char* part) {
    return all.find("per_client")->find(part)->number().value_or(0);
  };
  EXPECT_EQ(of("mean"), all.find("clients_perplexity")->number());
  EXPECT_NEAR(of("p10"), 4 + 0.9 * 60, 1e-12);
  EXPECT_NEAR(of("p50"), 34, 1e-12);
  EXPECT_NEAR(of("p90"), 4 + 0.1 * 60, 1e-12);
  EXPECT_NEAR(of("worst"), 64, 1e-12);
  EXPECT_EQ(to_json(summary_of(false)).find("per_client")->dump(), "null");
}

// JSON has no infinity.
TEST(perplexity, beyond_all_numbers_is_null) {
  std::vector<std::string> lines;
  chronicle x{watching(lines, true)};
  auto lost = scored();
  lost.scores.global.loss = 1e6;
  x.evaluated(lost, {}, {});
  EXPECT_THAT(lines.back(), HasSubstr("\"perplexity\":null"));
}

TEST(perplexity, is_shown_while_a_run_goes_on) {
  std::ostringstream out;
  progress_display display{out,
                           {.length = {.versions = 10},
                            .has_labels = false,
                            .counts_tokens = true,
                            .lead = line_id{1},
                            .every = instant{},
                            .clients = 2}};
  progress_report now;
  now.evaluation = scored();
  display.show(now);
  EXPECT_THAT(out.str(),
              HasSubstr("  perplexity 16.00  clients' perplexity 34.00"));
}

TEST(perplexity, is_in_the_summary_and_null_elsewhere) {
  const auto x = summary_of(true);
  EXPECT_NEAR(*to_json(x)["perplexity"].number(), 16, 1e-12);
  EXPECT_NEAR(*to_json(x)["clients_perplexity"].number(), 34, 1e-12);
  EXPECT_THAT(to_text(x), HasSubstr("  perplexity 16.0000 on the test data, "
                                    "loss 2.7726\n  clients    perplexity "
                                    "34.0000 in the mean\n"));
  const auto y = summary_of(false);
  EXPECT_EQ(to_json(y)["perplexity"].dump(), "null");
  EXPECT_EQ(to_json(y)["clients_perplexity"].dump(), "null");
  EXPECT_THAT(to_text(y), Not(HasSubstr("perplexity")));
}

// What everybody has a part of is worth most to who has one: clients are first.
TEST(perplexity, of_a_newcomer_is_said_to_be_that) {
  auto x = summary_of(true);
  x.personal = true;
  EXPECT_THAT(to_text(x),
              HasSubstr("  clients    perplexity 34.0000 in the mean\n"
                        "  newcomer   perplexity 16.0000 on the test data, "
                        "loss 2.7726: of who has no part of its own yet\n"));
}

// The same where clients learned something else.
TEST(digest, of_a_run_that_merges_nothing_is_of_where_all_begin) {
  run_summary x;
  x.digest = "aa";
  EXPECT_THAT(to_text(x), HasSubstr("\n  digest     aa: of where all begin; "
                                    "nothing is merged\n  folder "));
  EXPECT_EQ(to_json(x)["digest"].dump(), "\"aa\"");
  x.versions = 1;
  EXPECT_THAT(to_text(x), HasSubstr("\n  digest     aa\n  folder "));
}

// Clients choose by their own rows, and nobody has them all.
TEST(accuracy, of_a_choice_is_of_nobodys_rows) {
  run_summary x;
  x.accuracy = 0.25;
  EXPECT_EQ(to_json(x)["accuracy_is_of"].dump(), "\"every client\"");
  EXPECT_THAT(to_text(x), Not(HasSubstr("newcomer")));
  x.chosen = true;
  EXPECT_EQ(to_json(x)["accuracy_is_of"].dump(),
            "\"a newcomer with all rows\"");
  EXPECT_THAT(to_text(x),
              HasSubstr("  accuracy   0.2500 on the test data, loss 0.0000: "
                        "of a newcomer with all rows\n"));
  x.personal = true;
  EXPECT_EQ(to_json(x)["accuracy_is_of"].dump(), "\"a newcomer\"");
}

// Sorted labels are right by themselves: it stands behind each accuracy.
TEST(majority, stands_behind_accuracies) {
  run_summary x;
  x.accuracy = 0.75;
  x.per_client.emplace().mean = 0.5;
  EXPECT_THAT(to_text(x), Not(HasSubstr("majority")));
  x.method_results["majority_accuracy"] = 0.875;
  EXPECT_THAT(to_text(x),
              HasSubstr("\n  majority   0.8750 in the mean of clients, of who "
                        "always says what most of its rows are\n"));
}

TEST(majority, is_shown_while_a_run_goes_on) {
  std::ostringstream out;
  progress_display display{out,
                           {.length = {.versions = 10},
                            .lead = line_id{1},
                            .every = instant{},
                            .clients = 2}};
  progress_report now;
  now.evaluation = scored();
  now.evaluation->scores.method_results["majority_accuracy"] = 0.875;
  display.show(now);
  EXPECT_THAT(out.str(), HasSubstr("  accuracy 0.7500  majority 0.8750"));
}

} // namespace troupe::node::perplexity_test
