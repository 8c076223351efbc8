// What a question is about: the live model, or one that it names.

#include "models/visit/visit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/local_site.hpp"
#include "tests/support/next_visits.hpp"

namespace troupe::test::visit_test {

namespace {

using namespace models;

/// A quadratic whose loss rises with a statistic, so that it matters which one
/// is live.
class with_statistics final : public quadratic {
public:
  using quadratic::quadratic;
  using row_span = std::span<const std::uint32_t>;

  std::span<float> buffers() noexcept override {
    return {&statistic_, 1};
  }

  result<double> backward(row_span rows, std::uint64_t seed) override {
    return quadratic::backward(rows, seed).map([&](double loss) {
      return loss + statistic_;
    });
  }

  result<scores> evaluate(split part, row_span rows) override {
    return quadratic::evaluate(part, rows).map([&](scores x) {
      x.loss += statistic_;
      return x;
    });
  }

private:
  float statistic_ = 0;
};

batch all_of(const visit& v) {
  return {v.on.rows, 9};
}

/// What came of a question, and what it left behind.
floats with_gradient(const visit& v, floats found) {
  const auto left = brought_here(v.gradient());
  found.insert(found.end(), left.begin(), left.end());
  return found;
}

using question_of = task<floats> (*)(visit&, model_at);

task<floats> gradient(visit& v, model_at at) {
  const auto loss = co_await v.differentiate(all_of(v), at);
  co_return with_gradient(v, {static_cast<float>(loss)});
}

task<floats> gradient_to_keep(visit& v, model_at at) {
  const auto found = co_await v.differentiate_and_keep(all_of(v), at);
  EXPECT_FALSE(found.gradient) << "a quadratic keeps none";
  co_return with_gradient(v, {static_cast<float>(found.loss)});
}

task<floats> slope(visit& v, model_at at) {
  const auto to = v.room(width);
  const auto loss = co_await v.slope(all_of(v), to, at);
  auto found = brought_here(to);
  found.push_back(static_cast<float>(loss));
  co_return with_gradient(v, std::move(found));
}

task<floats> curve(visit& v, model_at at) {
  const floats along{1, 2, 3, 4};
  co_await v.curve(all_of(v), along, at);
  co_return with_gradient(v, {});
}

task<floats> score(visit& v, model_at at) {
  const auto found = co_await v.score(split::train, v.on.rows, at);
  co_return floats{static_cast<float>(found.loss)};
}

task<floats> say(visit& v, model_at at) {
  floats said(v.on.rows.size() * width);
  co_await v.say(split::train, v.on.rows, said, at);
  co_return said;
}

task<floats> speak_and_pull_back(visit& v, model_at at) {
  const auto said = co_await v.speak(all_of(v), at);
  const floats slopes(said.values.size(), 0.5f);
  v.load(v.room(width));
  co_await v.pull_back(said, slopes, at);
  co_return with_gradient(v, said.values);
}

struct named_question {
  std::string name;
  question_of ask;
};

std::vector<named_question> all_questions() {
  return {{"gradient", gradient},
          {"gradient_to_keep", gradient_to_keep},
          {"slope", slope},
          {"curve", curve},
          {"score", score},
          {"say", say},
          {"speak_and_pull_back", speak_and_pull_back}};
}

using change = void (*)(training_options&);

quadratic_setting setting_of(change changed) {
  auto x =
    small_setting({.name = "any",
                   .summary = {},
                   .blocks = {{.name = "model"}},
                   .legs = {{.fetch = {{"model"}}}}},
                  {.train = [](visit&) -> task<done> { co_return {}; }}, {}, 1);
  if (changed)
    changed(x.how);
  return x;
}

/// A visit of client 1, held by hand.
struct held {
  explicit held(change changed = nullptr) : on(setting_of(changed)) {
    // nop
  }

  quadratic_federation on;
  local_site at{on.task(), kernels::make_backend({}).value()};
  with_statistics model{make_quadratic_problem(on.problem().how)};
  cohort with;
  visit_input in = on.visit(1, 101);
  visit v{in, at.problem(model, 1, at.rows_of(in.visit.client), 1), with};
};

const floats elsewhere{0.25f, -0.5f, 1.5f, 2.f};
const floats statistic{3};

class named_model : public ::testing::TestWithParam<named_question> {};

INSTANTIATE_TEST_SUITE_P(all, named_model, ::testing::ValuesIn(all_questions()),
                         [](const auto& x) { return x.param.name; });

} // namespace

TEST_P(named_model, is_what_the_question_is_about) {
  held live;
  live.v.load(elsewhere);
  live.model.buffers()[0] = 3;
  const auto expected = run_alone(live.with, GetParam().ask(live.v, {}));
  held named;
  const auto found = run_alone(
    named.with,
    GetParam().ask(named.v, {.parameters = elsewhere, .buffers = statistic}));
  ASSERT_TRUE(expected && found);
  EXPECT_EQ(*found, *expected);
  held other;
  const auto otherwise = run_alone(other.with, GetParam().ask(other.v, {}));
  ASSERT_TRUE(otherwise);
  // A quadratic has the same curvature everywhere.
  EXPECT_EQ(*otherwise == *expected, GetParam().name == "curve");
}

TEST(named_gradient, takes_what_is_added_and_leaves_the_live_one_at_zero) {
  held live;
  const auto alone = run_alone(live.with, gradient(live.v, {}));
  held named;
  floats sum{1, 1, 1, 1};
  const auto found =
    run_alone(named.with, gradient(named.v, {.gradient = kernels::array{sum}}));
  ASSERT_TRUE(alone && found);
  EXPECT_EQ(found->front(), alone->front());
  for (std::size_t j = 0; j < width; ++j) {
    EXPECT_EQ(sum[j], 1 + (*alone)[1 + j]);
    EXPECT_EQ((*found)[1 + j], 0);
  }
}

namespace {

task<done> three_steps(visit& v, array weights) {
  optimiser by{v.on, width};
  const step_terms terms;
  for (int i = 0; i < 3; ++i)
    co_await v.step(all_of(v), by, terms, weights);
  co_return {};
}

} // namespace

TEST(named_weights, move_as_live_ones_would) {
  held live;
  live.v.load(elsewhere);
  ASSERT_TRUE(run_alone(live.with, three_steps(live.v, {})));
  held named;
  auto weights = elsewhere;
  ASSERT_TRUE(run_alone(named.with, three_steps(named.v, weights)));
  EXPECT_EQ(weights, brought_here(live.v.parameters()));
  EXPECT_NE(weights, elsewhere);
}

TEST(named_weights, move_in_a_group_as_they_would_alone) {
  for (const change changed : std::initializer_list<change>{
         nullptr, [](training_options& x) { x.momentum = 0.9; },
         [](training_options& x) { x.optimiser = optimiser_kind::adamw; }}) {
    const auto moved = [&](const std::vector<float>& starts) {
      std::vector<floats> weights;
      for (const auto x : starts)
        weights.emplace_back(width, x);
      cohort together;
      std::vector<std::unique_ptr<held>> each;
      std::vector<std::unique_ptr<visit>> visits;
      std::vector<task<done>> courses;
      std::vector<task_root> roots(starts.size());
      for (std::size_t i = 0; i < starts.size(); ++i) {
        each.push_back(std::make_unique<held>(changed));
        visits.push_back(
          std::make_unique<visit>(each[i]->in, each[i]->v.on, together, i));
        courses.push_back(three_steps(*visits[i], weights[i]));
        courses.back().start(roots[i]);
      }
      while (together.answer() > 0)
        continue;
      for (const auto& x : courses)
        EXPECT_TRUE(x.is_over());
      courses.clear();
      return weights;
    };
    const auto all = moved({1, 2, 3});
    EXPECT_EQ(all[1], moved({2})[0]);
    EXPECT_EQ(all[2], moved({3})[0]);
  }
}

TEST(value_pool, gives_zeros_and_keeps_no_more_bytes_than_it_may) {
  value_pool testee{100 * sizeof(float)};
  auto x = testee.take(60), y = testee.take(50), z = testee.take(40);
  const auto* second = y.data();
  std::ranges::fill(y, 1.f);
  testee.give_back(std::move(x));
  testee.give_back(std::move(z));
  EXPECT_EQ(testee.bytes_kept(), 100 * sizeof(float));
  testee.give_back(std::move(y)); // What came last is likely to be asked for.
  EXPECT_EQ(testee.bytes_kept(), 50 * sizeof(float));
  testee.give_back(aligned_floats(101));
  EXPECT_EQ(testee.bytes_kept(), 50 * sizeof(float));
  y = testee.take(50);
  EXPECT_EQ(y.data(), second);
  EXPECT_TRUE(std::ranges::all_of(y, [](float v) { return v == 0; }));
  EXPECT_EQ(testee.bytes_kept(), 0u);
}

} // namespace troupe::test::visit_test
