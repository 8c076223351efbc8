#include "actors/kernel_worker/crew.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "models/guarded_trainer.hpp"
#include "models/local_trainer.hpp"
#include "models/tasks/quadratic.hpp"
#include "tests/support/small_recipes.hpp"

namespace troupe::actors {

namespace {

constexpr std::uint32_t a_million = 1'000'000;

/// Says when it has been differentiated for the third time.
class watched_quadratic final : public models::quadratic {
public:
  watched_quadratic(std::shared_ptr<const models::quadratic_problem> problem,
                    std::atomic<std::uint32_t>& steps,
                    std::promise<void>& begun)
    : quadratic(std::move(problem)),
      steps_(steps),
      begun_(begun) {
    // nop
  }

  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override {
    if (++steps_ == 3)
      begun_.set_value();
    return quadratic::backward(rows, seed);
  }

private:
  std::atomic<std::uint32_t>& steps_;
  std::promise<void>& begun_;
};

/// Visits that would take a million steps.
struct long_visits {
  std::shared_ptr<const models::quadratic_problem> problem =
    models::make_quadratic_problem({.clients = 1});
  recipe method = test::shared_model("sgd");
  models::layout blocks =
    models::make_layout(method, models::shapes_of(models::quadratic{problem}),
                        {})
      .value();
  std::atomic<std::uint32_t> steps = 0;
  std::promise<void> begun = {};

  models::trainer_factory trainers() {
    auto task = std::make_shared<models::local_task>();
    task->method = method;
    task->blocks = blocks;
    task->how.local_steps = a_million;
    task->clients = models::partition_of(*problem);
    return models::guarded(models::local_trainers(
      task, [this]() -> result<std::unique_ptr<models::objective>> {
        return std::make_unique<watched_quadratic>(problem, steps, begun);
      }));
  }

  models::visit_input visit() const {
    const auto& model = blocks.blocks.front();
    return {.visit = {{1}, {1}},
            .fetched = {{model.id, {0}, share(std::vector<float>(model.size))}},
            .chosen = {},
            .state = {}};
  }
};

} // namespace

// The end of a process takes a question, not a visit. What is forgotten was
// never begun.
TEST(crew, is_dismissed_in_the_middle_of_a_visit) {
  long_visits x;
  auto testee = crew::hire(1, x.trainers()).value();
  result<models::trained> found;
  bool began_another = false;
  testee->add([&](models::trainer& own) { found = own.train(x.visit()); },
              {{1}, {1}});
  testee->add([&](models::trainer&) { began_another = true; }, {{2}, {1}});
  x.begun.get_future().wait();
  testee->dismiss();
  ASSERT_FALSE(found) << "a visit of a million steps was not given up";
  EXPECT_EQ(found.error().context,
            "who computed this visit was dismissed before its end");
  EXPECT_LT(x.steps.load(), a_million);
  EXPECT_FALSE(began_another);
}

// A visit with two legs is one visit, and its choice is no training.
TEST(crew, counts_a_visit_once_whatever_it_chooses) {
  long_visits x;
  const std::shared_ptr<crew> workers = crew::hire(1, x.trainers()).value();
  prompt_workshop testee{workers};
  std::promise<void> done;
  const auto nothing = [](models::trainer&) {
    return messages::job_finished{};
  };
  const visit_id visit{{1}, {1}};
  testee.submit({.due = {}, .visit = visit, .is = workshop::kind::choice},
                nothing, [](const messages::job_finished&) {});
  testee.submit({.due = {}, .visit = visit}, nothing,
                [](const messages::job_finished&) {});
  testee.submit({.due = {}, .visit = {{2}, {1}}, .is = workshop::kind::choice},
                nothing,
                [&](const messages::job_finished&) { done.set_value(); });
  done.get_future().wait();
  workers->dismiss(); // What it was at is counted by then.
  const auto found = workers->status();
  EXPECT_EQ(found.work.count, 1u);
  EXPECT_EQ(found.choices.count, 2u);
}

} // namespace troupe::actors
