// What is said of clients whose rows have classes.

#include "models/label_scores.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/tasks/quadratic.hpp"
#include "tests/support/quadratic_federation.hpp"
#include "tests/support/small_recipes.hpp"

namespace troupe::test::label_scores_test {

namespace {

using namespace models;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using counts = std::vector<std::uint64_t>;
using results = std::map<std::string, double>;

/// Rows whose classes are written down, and what is to be told of them.
struct known_labels final : model_labels {
  std::size_t classes() const noexcept override {
    return count;
  }

  std::size_t class_of(split part, std::uint32_t row) const override {
    return (part == split::train ? train : test).at(row);
  }

  label_tally take_tally() override {
    return std::exchange(next, {});
  }

  std::size_t count = 2;
  std::vector<std::size_t> train = {1, 1, 0, 0};
  std::vector<std::size_t> test = {1, 0, 1};
  label_tally next = {};
};

const partition two_clients{.train = {{0, 1, 2}, {3}}, .test = {{0, 1}, {2}}};

results put(const label_report& x) {
  results to;
  x.put(to);
  return to;
}

/// Of three clients with a test row each, all of which it takes for class 0.
struct labelled_bowl final : quadratic, model_labels {
  using quadratic::quadratic;

  result<scores> evaluate(split part,
                          std::span<const std::uint32_t> rows) override {
    for (const auto row : rows)
      if (part == split::test) {
        ++tally.rows;
        ++tally.taken_for[2 * (row % 2)];
      }
    return quadratic::evaluate(part, rows);
  }

  model_labels* labels() noexcept override {
    return this;
  }

  std::size_t classes() const noexcept override {
    return 2;
  }

  std::size_t class_of(split, std::uint32_t row) const override {
    return row % 2;
  }

  label_tally take_tally() override {
    return std::exchange(tally, fresh());
  }

  static label_tally fresh() {
    return {.taken_for = counts(4)};
  }

  label_tally tally = fresh();
};

} // namespace

TEST(matthews, is_what_one_computes_by_hand) {
  // 16 / sqrt(8 * 7 * 5 * 4).
  EXPECT_NEAR(matthews(counts{3, 2, 1, 6}, 2), 16 / std::sqrt(1120.0), 1e-12);
  EXPECT_NEAR(matthews(counts{2, 3, 6, 1}, 2), -matthews(counts{3, 2, 1, 6}, 2),
              1e-12);
  EXPECT_EQ(matthews(counts{5, 0, 0, 0, 2, 0, 0, 0, 9}, 3), 1);
}

TEST(matthews, is_nothing_where_one_class_is_all_there_is) {
  EXPECT_EQ(matthews(counts{0, 0, 0, 0}, 2), 0);
  EXPECT_EQ(matthews(counts{7, 0, 0, 0}, 2), 0);
  EXPECT_EQ(matthews(counts{7, 0, 3, 0}, 2), 0);
  EXPECT_EQ(matthews(counts{3, 4, 0, 0}, 2), 0);
}

TEST(label_reports, have_the_control_of_each_client) {
  known_labels labels;
  label_report report{labels, two_clients};
  labels.next = {.rows = 2, .taken_for = {1, 0, 0, 1}};
  report.add({1});
  labels.next = {.rows = 1, .taken_for = {0, 0, 0, 1}};
  report.add({2});
  // Client 1 has learned class 1 above all, and half of its test rows are of
  // it; client 2 only class 0, and is asked for the other.
  EXPECT_THAT(
    put(report),
    UnorderedElementsAre(
      Pair("matthews", 0.5), Pair("matthews.1", 1), Pair("matthews.2", 0),
      Pair("majority_accuracy", 0.25), Pair("majority_accuracy.1", 0.5),
      Pair("majority_accuracy.2", 0), Pair("clients_of_one_class", 1)));
}

TEST(label_reports, say_nothing_of_rows_that_were_judged_otherwise) {
  known_labels labels;
  label_report report{labels, two_clients};
  labels.next = {.rows = 3, .taken_for = {1, 0, 0, 2}};
  report.add({1});
  labels.next = {.rows = 5, .taken_for = {5, 0, 0, 0}};
  report.forget();
  report.add({2});
  const auto all = put(report);
  EXPECT_FALSE(all.contains("matthews"));
  EXPECT_TRUE(all.contains("majority_accuracy"));
}

TEST(label_reports, say_nothing_where_no_client_was_scored) {
  known_labels labels;
  EXPECT_TRUE(put(label_report{labels, two_clients}).empty());
}

TEST(label_reports, have_the_overlap_of_spans_and_no_class) {
  known_labels labels;
  labels.count = 0;
  label_report report{labels, two_clients};
  labels.next = {.rows = 2, .overlap = 1.5};
  report.add({1});
  labels.next = {.rows = 1, .overlap = 0.25};
  report.add({2});
  EXPECT_THAT(put(report), UnorderedElementsAre(Pair("span_f1", 0.5),
                                                Pair("span_f1.1", 0.75),
                                                Pair("span_f1.2", 0.25)));
}

TEST(label_reports, have_what_answers_are_worth_as_texts) {
  known_labels labels;
  labels.count = 0;
  label_report report{labels, two_clients};
  labels.next = {.rows = 2, .overlap = 1, .told = 2, .exact = 1, .f1 = 1.5};
  report.add({1});
  // Of rows that nobody knows as texts there is nothing to say.
  labels.next = {.rows = 1, .overlap = 1};
  report.add({2});
  const auto all = put(report);
  EXPECT_EQ(all.at("answer_exact.1"), 0.5);
  EXPECT_EQ(all.at("answer_f1.1"), 0.75);
  EXPECT_EQ(all.at("answer_exact"), 0.5);
  EXPECT_FALSE(all.contains("answer_exact.2"));
  EXPECT_EQ(all.at("span_f1.2"), 1);
}

TEST(label_reports, stand_beside_the_scores_of_clients) {
  quadratic_federation federation{
    {.method = shared_model("sgd"),
     .problem = {.dimension = 2, .clients = 3},
     .make_model = [](std::shared_ptr<const quadratic_problem> problem) {
       return std::make_unique<labelled_bowl>(std::move(problem));
     }}};
  const auto found =
    federation.trainer().evaluate({.versions = federation.visit(1, 5).fetched,
                                   .per_client = true,
                                   .states = {}});
  ASSERT_TRUE(found) << found.error().context;
  const auto& all = found->method_results;
  // The test rows of all clients were judged before, and are of nobody.
  for (const auto* name : {"matthews.1", "matthews.2", "matthews.3"})
    EXPECT_TRUE(all.contains(name)) << name;
  EXPECT_EQ(all.at("clients_of_one_class"), 3);
  EXPECT_TRUE(all.contains("majority_accuracy"));
}

} // namespace troupe::test::label_scores_test
