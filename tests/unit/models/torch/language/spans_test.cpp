// Where in a row a question is answered.

#include "models/torch/language/spans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/labels.hpp"
#include "models/language/row_answers.hpp"
#include "models/language/token_span.hpp"
#include "tests/support/labelled_scene.hpp"

namespace troupe::models::spans_test {

namespace {

using row_list = std::vector<std::uint32_t>;
using test::labelled_model;
using test::listed_rows;

constexpr row_head both_ends{head_kind::ends, 2};
const row_list all_rows{0, 1, 2};

/// A whole row, one that is padded, and one without an answer.
std::shared_ptr<const listed_rows> answered_rows() {
  using row = listed_rows::row;
  return std::make_shared<const listed_rows>(
    6, 13,
    std::vector<row>{row{.ids = {1, 4, 0, 2, 10, 11}, .targets = {2, 4}},
                     row{.ids = {6, 9, 5, 7}, .targets = {3, 3}},
                     row{.ids = {11, 1, 3}, .targets = {0, 0}}});
}

std::unique_ptr<objective> finder(std::string_view config,
                                  std::uint32_t micro_batch = 0) {
  return labelled_model(config, both_ends, answered_rows(),
                        {.trained = true, .micro_batch = micro_batch});
}

/// The last row lacks the answer, and the second goes on with its text.
std::shared_ptr<const listed_rows> rows_of_windows() {
  std::vector<listed_rows::row> rows;
  for (const auto row : all_rows)
    rows.push_back(answered_rows()->at(row));
  return std::make_shared<const listed_rows>(
    6, 13, std::move(rows),
    std::map<std::uint32_t, later_windows>{{2, {1, 1}}});
}

void learn(objective& model) {
  for (int i = 0; i < 200; ++i) {
    const auto slopes = test::gradient_of(model, all_rows);
    for (std::size_t j = 0; j < slopes.size(); ++j)
      model.parameters()[j] -= 0.05f * slopes[j];
  }
}

/// The test set's answers by row, of the spans that are found there.
class told_rows final : public token_rows, public row_answers {
public:
  struct told {
    std::string said;
    std::vector<std::string> meant;
    token_span found = {};
  };

  explicit told_rows(std::vector<told> all,
                     std::shared_ptr<const listed_rows> rows = answered_rows())
    : rows_(std::move(rows)),
      all_(std::move(all)) {
    // nop
  }

  std::size_t context() const noexcept override {
    return rows_->context();
  }

  std::uint32_t vocabulary() const noexcept override {
    return rows_->vocabulary();
  }

  std::size_t size(split part) const noexcept override {
    return rows_->size(part);
  }

  void read(split part, std::uint32_t row, std::span<std::int32_t> ids,
            std::span<std::int32_t> targets) const override {
    rows_->read(part, row, ids, targets);
  }

  later_windows later_of(split part, std::uint32_t row) const override {
    return rows_->later_of(part, row);
  }

  const row_answers* answers() const noexcept override {
    return this;
  }

  std::string said(std::uint32_t row, const token_span& x) const override {
    EXPECT_TRUE(x == all_.at(row).found) << row;
    return all_.at(row).said;
  }

  std::span<const std::string> meant(std::uint32_t row) const override {
    return all_.at(row).meant;
  }

private:
  std::shared_ptr<const listed_rows> rows_;
  std::vector<told> all_;
};

double loss_by_hand(std::string_view config, objective& of) {
  const auto tensors = test::tensors_in(of);
  const auto rows = answered_rows();
  double sum = 0;
  for (const auto row : all_rows) {
    const auto& x = rows->at(row);
    const auto states = test::states_by_hand(config, tensors, x.ids);
    const auto chances = at::log_softmax(
      at::linear(states, tensors[tensors.size() - 2], tensors.back()), 0);
    sum -= (chances[x.targets[0]][0].item<double>()
            + chances[x.targets[1]][1].item<double>())
           / 2;
  }
  return sum;
}

} // namespace

TEST(span_finders, lose_by_both_ends) {
  for (const auto config : test::tiny_models) {
    auto model = finder(config);
    ASSERT_TRUE(model);
    const auto found = model->evaluate(split::test, all_rows);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(found->count, 3u);
    const auto expected = loss_by_hand(config, *model);
    EXPECT_NEAR(found->loss, expected, 1e-4);
    EXPECT_NEAR(*model->backward(all_rows, 1), expected / 3, 1e-4);
  }
}

TEST(span_finders, learn_the_same_in_passes_of_any_size) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    auto whole = finder(config);
    auto some = finder(config, 1);
    test::expect_alike(test::gradient_of(*some, all_rows),
                       test::gradient_of(*whole, all_rows), 1e-6);
  }
}

TEST(span_finders, find_nothing_where_all_places_are_alike) {
  auto model = finder(test::tiny_bert);
  std::ranges::fill(model->parameters().last(2 * 8 + 2), 0.f);
  const auto found = model->evaluate(split::test, all_rows);
  ASSERT_TRUE(found);
  // The first of equals is no answer, which is right of the last row.
  EXPECT_EQ(found->correct, 1u);
  auto* labels = model->labels();
  ASSERT_TRUE(labels);
  EXPECT_EQ(labels->classes(), 0u);
  const auto tally = labels->take_tally();
  EXPECT_EQ(tally.rows, 3u);
  EXPECT_EQ(tally.overlap, 1);
  EXPECT_EQ(tally.told, 0u) << "nobody knows answers as texts";
  ASSERT_TRUE(model->evaluate(split::train, all_rows));
  EXPECT_EQ(labels->take_tally().rows, 0u);
}

TEST(span_finders, are_judged_by_what_they_say_as_well) {
  // Right by another answer, half right in words that stand elsewhere, wrong.
  const auto rows = std::make_shared<const told_rows>(
    std::vector<told_rows::told>{{"The Mill.", {"river", "mill"}},
                                 {"red old mill", {"the mill, red"}},
                                 {"mill", {""}}});
  auto model =
    labelled_model(test::tiny_bert, both_ends, rows, {.trained = true});
  std::ranges::fill(model->parameters().last(2 * 8 + 2), 0.f);
  ASSERT_TRUE(model->evaluate(split::test, row_list{2, 0, 1}));
  const auto all = model->labels()->take_tally();
  EXPECT_EQ(all.told, 3u);
  EXPECT_EQ(all.exact, 1);
  EXPECT_DOUBLE_EQ(all.f1, 1.8);
  EXPECT_EQ(all.overlap, 1) << "by places the last row is right";
  // Each row by its own answers, however many go forward together.
  ASSERT_TRUE(model->evaluate(split::test, row_list{1}));
  EXPECT_DOUBLE_EQ(model->labels()->take_tally().f1, 0.8);
  ASSERT_TRUE(model->evaluate(split::train, all_rows));
  EXPECT_EQ(model->labels()->take_tally().told, 0u);
}

TEST(span_finders, are_wrong_where_the_answer_is_beyond_the_row) {
  // The second row of equal ones has its answer beyond, the first has none.
  using row = listed_rows::row;
  const auto rows = std::make_shared<const listed_rows>(
    6, 13,
    std::vector<row>{row{.ids = {11, 1, 3}, .targets = {0, 0}},
                     row{.ids = {11, 1, 3}, .targets = {1, 0}}});
  auto model =
    labelled_model(test::tiny_bert, both_ends, rows, {.trained = true});
  std::ranges::fill(model->parameters().last(2 * 8 + 2), 0.f);
  const auto score = [&](std::uint32_t which) {
    const auto x = model->evaluate(split::test, row_list{which});
    EXPECT_TRUE(x) << x.error().context;
    return x ? *x : scores{};
  };
  const auto none = score(0), beyond = score(1);
  EXPECT_EQ(none.correct, 1u);
  EXPECT_EQ(beyond.correct, 0u);
  EXPECT_EQ(beyond.loss, none.loss) << "no token of it is the answer";
  const auto tally = model->labels()->take_tally();
  EXPECT_EQ(tally.rows, 2u);
  EXPECT_EQ(tally.overlap, 1);
}

TEST(span_finders, come_to_find_what_they_are_told) {
  auto model = finder(test::tiny_bert);
  const auto before = model->evaluate(split::train, all_rows);
  ASSERT_TRUE(before);
  learn(*model);
  const auto after = model->evaluate(split::train, all_rows);
  ASSERT_TRUE(after);
  EXPECT_LT(after->loss, before->loss / 2);
  EXPECT_FALSE(model->outputs());
  EXPECT_FALSE(model->embeddings());
}

// What is said of a text is the surest answer of its windows.
TEST(span_finders, look_for_an_answer_in_all_windows) {
  auto model = finder(test::tiny_bert);
  learn(*model);
  auto whole = labelled_model(test::tiny_bert, both_ends, rows_of_windows(),
                              {.trained = true});
  std::ranges::copy(model->parameters(), whole->parameters().begin());
  const auto score = [](objective& by, std::uint32_t row) {
    const auto x = by.evaluate(split::test, row_list{row});
    EXPECT_TRUE(x) << x.error().context;
    return x ? *x : scores{};
  };
  const auto answer = score(*model, 1), none = score(*model, 2);
  ASSERT_EQ(answer.correct + none.correct, 2u) << "it has learned both";
  const auto both = score(*whole, 2);
  EXPECT_EQ(both.count, 1u);
  EXPECT_EQ(both.correct, 1u);
  EXPECT_NEAR(both.loss, (answer.loss + none.loss) / 2, 1e-5);
  EXPECT_EQ(whole->labels()->take_tally().overlap, 1);
  // A layer that prefers no place finds no answer, and there is one.
  std::ranges::fill(whole->parameters().last(2 * 8 + 2), 0.f);
  EXPECT_EQ(score(*whole, 2).correct, 0u);
  EXPECT_EQ(whole->labels()->take_tally().overlap, 0);
}

TEST(span_finders, are_judged_by_what_the_surest_window_says) {
  auto model = finder(test::tiny_bert);
  learn(*model);
  // Nobody asks what a later window means by itself.
  const auto rows = std::make_shared<const told_rows>(
    std::vector<told_rows::told>{
      {}, {"The Mill.", {""}, {3, 3}}, {"", {"old mill", "mill"}}},
    rows_of_windows());
  auto whole =
    labelled_model(test::tiny_bert, both_ends, rows, {.trained = true});
  std::ranges::copy(model->parameters(), whole->parameters().begin());
  ASSERT_TRUE(whole->evaluate(split::test, row_list{2}));
  const auto all = whole->labels()->take_tally();
  EXPECT_EQ(all.told, 1u) << "the text, and not each window";
  EXPECT_EQ(all.exact, 1);
  EXPECT_EQ(all.f1, 1);
}

} // namespace troupe::models::spans_test
