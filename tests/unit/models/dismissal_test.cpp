// What is dismissed stops between two answers.

#include "models/local_trainer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "policies/catalogue.hpp"
#include "tests/support/plain_gate.hpp"
#include "tests/support/quadratic_federation.hpp"
#include "tests/support/same_visits.hpp"

namespace troupe::test::dismissal_test {

namespace {

using models::visit_input;

constexpr auto said = "who computed this visit was dismissed before its end";

struct long_visits {
  models::trainer* by = nullptr;
  int calls = 0;
  int last = 0; ///< The call at which somebody dismisses the trainer.
};

class dismissing final : public models::quadratic {
public:
  dismissing(std::shared_ptr<const models::quadratic_problem> problem,
             long_visits& x)
    : quadratic(std::move(problem)),
      x_(x) {
    // nop
  }

  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override {
    if (++x_.calls == x_.last)
      x_.by->dismiss();
    return quadratic::backward(rows, seed);
  }

  result<models::scores>
  evaluate(models::split part, std::span<const std::uint32_t> rows) override {
    if (++x_.calls == x_.last)
      x_.by->dismiss();
    return quadratic::evaluate(part, rows);
  }

  result<void> embed(models::split part, std::uint32_t row,
                     std::span<float> out) override {
    if (++x_.calls == x_.last)
      x_.by->dismiss();
    return quadratic::embed(part, row, out);
  }

private:
  long_visits& x_;
};

/// Visits of a million steps each.
quadratic_setting setting_of(const std::string& method, long_visits& x) {
  return {.method = *policies::find_recipe(method),
          .how = {.local_epochs = 1'000'000, .batch_size = 2},
          .problem = {.clients = 3, .rows_per_client = 2},
          .in_step = 3,
          .make_model = [&x](auto problem) {
            return std::make_unique<dismissing>(problem, x);
          }};
}

std::vector<visit_input> three_visits(const quadratic_federation& x) {
  return {x.visit(1, 101), x.visit(2, 102), x.visit(3, 103)};
}

} // namespace

TEST(dismissal, ends_visits_after_the_question_that_is_being_answered) {
  long_visits x;
  quadratic_federation testee{setting_of("fedavg", x)};
  x.by = &testee.trainer();
  x.last = 7; // The third question of the first visit.
  const auto found = testee.trainer().train(three_visits(testee));
  ASSERT_EQ(found.size(), 3u);
  for (const auto& visit : found) {
    ASSERT_FALSE(visit);
    EXPECT_EQ(visit.error().context, said);
  }
  EXPECT_EQ(x.calls, 9); // Those of the others were open as well.
}

TEST(dismissal, leaves_alone_what_has_ended) {
  long_visits x;
  auto how = setting_of("fedavg", x);
  how.rows = {2, 0, 2}; // Who has no rows has nothing to do.
  quadratic_federation testee{how};
  x.by = &testee.trainer();
  x.last = 5;
  const auto found = testee.trainer().train(three_visits(testee));
  EXPECT_FALSE(found[0]);
  EXPECT_TRUE(found[1]);
  EXPECT_FALSE(found[2]);
}

TEST(dismissal, ends_a_choice) {
  long_visits x;
  quadratic_federation testee{setting_of("ifca", x)};
  x.by = &testee.trainer();
  x.last = 2; // Of four models.
  const auto found = testee.trainer().choose(testee.visit(1, 101));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context, said);
  EXPECT_EQ(x.calls, 2);
}

// A large common model needs a while for the rows of a first visit.
TEST(dismissal, ends_the_look_of_a_common_model_at_a_clients_rows) {
  long_visits x;
  auto how = gated_setting("ddome", crowd(3, 2, 0));
  how.problem.rows_per_client = 1000;
  quadratic_federation testee{how};
  const auto problem =
    std::make_shared<const models::quadratic_problem>(testee.problem());
  const auto in = served(testee, 1, 101);
  for (const bool trains : {false, true}) {
    const auto trainer = trainer_after(testee, [&](models::local_task& task) {
      task.embedded = std::make_shared<models::embedding_table>();
      task.make_common = [&]() -> result<std::unique_ptr<models::objective>> {
        return std::make_unique<dismissing>(problem, x);
      };
    });
    x = {.by = trainer.get(), .calls = 0, .last = 150};
    if (trains) {
      const auto found = trainer->train(in);
      ASSERT_FALSE(found);
      EXPECT_EQ(found.error().context, said);
    } else {
      const auto found = trainer->choose(in);
      ASSERT_FALSE(found);
      EXPECT_EQ(found.error().context, said);
    }
    EXPECT_EQ(x.calls, 200) << "of a thousand";
  }
}

TEST(dismissal, leaves_what_ended_with_the_answer_that_was_being_given) {
  long_visits x;
  auto how = setting_of("fedavg", x);
  how.how.local_epochs = 1;
  how.problem.rows_per_client = 4;
  how.rows = {4, 2, 4}; // Of 2, 1 and 2 steps.
  quadratic_federation testee{how};
  x.by = &testee.trainer();
  x.last = 2;
  const auto found = testee.trainer().train(three_visits(testee));
  EXPECT_FALSE(found[0]);
  EXPECT_TRUE(found[1]);
  EXPECT_FALSE(found[2]);
}

} // namespace troupe::test::dismissal_test
