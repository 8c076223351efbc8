// What a visit must bear, over all methods: that any of its calls fails, or
// throws; that others answer it; that it is given up.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "models/local_site.hpp"
#include "models/visit/visit.hpp"
#include "tests/support/brittle.hpp"
#include "tests/support/every_method.hpp"
#include "tests/support/same_visits.hpp"

namespace troupe::test::bearing_test {

namespace {

using models::trained;
using models::visit_input;

constexpr std::array kinds{breakage::kind::error, breakage::kind::exception,
                           breakage::kind::no_memory};

quadratic_setting setting_of(const std::string& method) {
  return noisy_setting(method, 1, {8, 6, 3});
}

/// A setting of which one visit's place can break: the last that is made.
struct brittle_setting {
  breakage broken;
  std::vector<models::objective*> made = {};

  /// @param all also what visits have in common
  quadratic_setting of(const std::string& method, std::size_t in_step,
                       bool all) {
    auto x = setting_of(method);
    x.in_step = in_step;
    x.make_model = [this](auto problem) -> std::unique_ptr<models::objective> {
      auto one = std::make_unique<brittle_quadratic>(problem, broken);
      made.push_back(one.get());
      return one;
    };
    if (all)
      x.make_arithmetic = [this] {
        return std::make_unique<brittle_backend>(broken);
      };
    return x;
  }
};

bool is_zero(std::span<const float> x) {
  return std::ranges::all_of(x, [](float v) { return v == 0; });
}

/// A visit that is held by hand, in its place among others.
class held_visit {
public:
  held_visit(const quadratic_federation& on, const visit_input& x,
             models::objective& model, models::cohort& with, std::size_t place)
    : at_(on.task(), kernels::make_backend({}).value(), on.common_model()),
      procedure_(
        on.task()->table.at(on.task()->method.roles[x.role].procedure.value)),
      v_(x, problem(x, model), with, place),
      course_(procedure_.train(v_)) {
    course_->start(root_);
  }

  bool is_over() const {
    return course_->is_over();
  }

  void give_up() {
    course_.reset();
  }

  result<trained> take() {
    auto out = course_->take().map([&](models::done) { return v_.out; });
    if (out && procedure_.passes)
      out->steps *= procedure_.passes(at_.task().how);
    return out;
  }

private:
  models::local_problem problem(const visit_input& x,
                                models::objective& model) const {
    const auto rows = at_.rows_of(x.visit.client);
    return at_.problem(model, x.progress, rows,
                       static_cast<double>(rows.size()));
  }

  models::local_site at_;
  models::local_method procedure_;
  models::visit v_;
  models::task_root root_;
  std::optional<models::task<models::done>> course_;
};

/// All clients' visits, begun together.
struct held_cohort {
  explicit held_cohort(quadratic_federation& on) : inputs(next_visits(on)) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      models.push_back(std::make_unique<models::quadratic>(
        models::make_quadratic_problem(on.problem().how)));
      visits.push_back(
        std::make_unique<held_visit>(on, inputs[i], *models[i], together, i));
    }
  }

  std::vector<visit_input> inputs;
  models::cohort together;
  std::vector<std::unique_ptr<models::quadratic>> models;
  std::vector<std::unique_ptr<held_visit>> visits;
};

class bearing : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(all, bearing, ::testing::ValuesIn(all_methods()),
                         [](const auto& x) { return x.param; });

} // namespace

// Whichever of its calls fails: that is what it ends with, there is no call
// after it, the gradient is zero, and the next visit has the bits of a fresh
// one.
TEST_P(bearing, a_visit_ends_at_whichever_call_fails) {
  brittle_setting site;
  quadratic_federation testee{site.of(GetParam(), 1, true)};
  testee.round();
  const auto visit = testee.visit(1, 101);
  const auto expected = testee.trainer().train(visit);
  ASSERT_TRUE(expected) << expected.error().context;
  for (const auto kind : kinds) {
    std::uint64_t n = 0;
    for (;; ++n) {
      SCOPED_TRACE(n);
      site.broken.set(n, kind);
      const auto found = testee.trainer().train(visit);
      if (found) {
        expect_same(found, expected);
        break;
      }
      ASSERT_EQ(found.error().context, site.broken.text());
      ASSERT_EQ(site.broken.calls, n + 1);
      ASSERT_TRUE(is_zero(site.made.front()->gradient()));
      expect_same(testee.trainer().train(visit), expected);
      ASSERT_FALSE(HasFailure());
    }
    EXPECT_EQ(site.broken.calls, n); // It came to its end, and no call failed.
    EXPECT_GT(n, 0u);
  }
}

TEST_P(bearing, a_choice_ends_at_whichever_call_fails) {
  brittle_setting site;
  quadratic_federation testee{site.of(GetParam(), 1, true)};
  const auto visit = testee.visit(1, 101);
  const auto expected = testee.trainer().choose(visit);
  ASSERT_TRUE(expected) << expected.error().context;
  for (const auto kind : kinds)
    for (std::uint64_t n = 0;; ++n) {
      site.broken.set(n, kind);
      const auto found = testee.trainer().choose(visit);
      if (found) {
        EXPECT_EQ(found->chosen, expected->chosen);
        break;
      }
      ASSERT_EQ(found.error().context, site.broken.text());
      ASSERT_EQ(site.broken.calls, n + 1);
    }
}

TEST_P(bearing, a_visit_that_fails_among_others_ends_alone) {
  brittle_setting site;
  breakage sound;
  auto how = site.of(GetParam(), 3, false);
  how.make_model =
    [&,
     places = 0](auto problem) mutable -> std::unique_ptr<models::objective> {
    return std::make_unique<brittle_quadratic>(
      problem, places++ == 1 ? site.broken : sound);
  };
  quadratic_federation testee{how};
  const auto visits = next_visits(testee);
  const auto expected = testee.trainer().train(visits);
  for (std::uint64_t n = 0;; ++n) {
    SCOPED_TRACE(n);
    site.broken.set(n, kinds[n % kinds.size()]);
    auto found = testee.trainer().train(visits);
    if (found[1]) {
      EXPECT_GT(n, 0u);
      expect_same(found, expected);
      break;
    }
    EXPECT_EQ(found[1].error().context, site.broken.text());
    found[1] = expected[1];
    expect_same(found, expected);
    expect_same(testee.trainer().train(visits), expected);
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(bearing, visits_move_between_threads_from_answer_to_answer) {
  quadratic_federation one{setting_of(GetParam())};
  one.round();
  held_cohort testee{one};
  std::size_t answered = 1;
  while (answered > 0)
    std::thread{[&] { answered = testee.together.answer(); }}.join();
  std::vector<result<trained>> found;
  for (auto& x : testee.visits)
    found.push_back(x->take());
  expect_same(found, alone(one.trainer(), testee.inputs));
}

// One leaves after so many answers, and the others do not notice; its place is
// then as good as a fresh one.
TEST_P(bearing, a_visit_that_is_given_up_leaves_alone) {
  quadratic_federation one{setting_of(GetParam())};
  const auto expected = alone(one.trainer(), next_visits(one));
  for (int answers = 0; answers < 4; ++answers) {
    SCOPED_TRACE(answers);
    held_cohort testee{one};
    for (int i = 0; i < answers; ++i)
      testee.together.answer();
    testee.visits[1].reset();
    EXPECT_TRUE(is_zero(testee.models[1]->gradient()));
    testee.visits[1] = std::make_unique<held_visit>(
      one, testee.inputs[1], *testee.models[1], testee.together, 1);
    while (testee.together.answer() > 0)
      continue;
    std::vector<result<trained>> found;
    for (auto& x : testee.visits)
      found.push_back(x->take());
    expect_same(found, expected);
  }
}

TEST_P(bearing, a_cohort_is_given_up_in_the_middle) {
  quadratic_federation one{setting_of(GetParam())};
  for (int answers = 0; answers < 4; ++answers) {
    held_cohort testee{one};
    for (int i = 0; i < answers; ++i)
      testee.together.answer();
    for (auto& x : testee.visits) {
      x->give_up();
      x.reset();
    }
    EXPECT_EQ(testee.together.answer(), 0u);
    for (auto& x : testee.models)
      EXPECT_TRUE(is_zero(x->gradient()));
  }
}

TEST(bearing_visits, one_without_memory_for_its_first_frame_ends_alone) {
  auto how = setting_of("fedavg");
  how.in_step = 3;
  how.method.roles.push_back({.name = "poor", .procedure = {"poor"}});
  how.methods["poor"] = {
    .train = [](models::visit&) -> models::task<models::done> {
      throw std::bad_alloc{};
    }};
  quadratic_federation testee{how};
  auto visits = next_visits(testee);
  auto expected = testee.trainer().train(visits);
  visits[1].role = 1;
  expected[1] = fail(errc::device_failure,
                     "there is not enough memory for this visit's arithmetic");
  expect_same(testee.trainer().train(visits), expected);
}

} // namespace troupe::test::bearing_test
