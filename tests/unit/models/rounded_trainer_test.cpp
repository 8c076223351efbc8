// Where what is sent is rounded, visits and scores know no more than that.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>

#include "models/local_trainer.hpp"
#include "models/shapes.hpp"
#include "models/tasks/quadratic.hpp"
#include "tests/support/small_recipes.hpp"

namespace troupe::test::rounded_trainer_test {

namespace {

using namespace models;

const quadratic_options problem{
  .dimension = 2, .clients = 3, .rows_per_client = 4, .noise = 0.5};

struct site {
  std::shared_ptr<local_task> task = std::make_shared<local_task>();
  std::unique_ptr<trainer> worker;

  site(sent_as sent, double norm_max) {
    const auto world = make_quadratic_problem(problem);
    auto model = std::make_unique<quadratic>(world);
    task->method = shared_model("sgd");
    task->blocks = make_layout(task->method, shapes_of(*model),
                               {.weight_max = 4, .sent = sent})
                     .value();
    task->clients = partition_of(*world);
    task->test_size = problem.clients;
    task->how.norm_max = norm_max;
    worker =
      make_local_trainer(task, std::move(model), *kernels::make_backend({}))
        .value();
  }

  /// To a version that has more digits than are sent.
  visit_input visit() const {
    visit_input x{.visit = {{1}, {1}},
                  .seed = 5,
                  .fetched = {},
                  .chosen = {},
                  .state = nullptr};
    for (const auto& block : task->blocks.blocks)
      x.fetched.push_back(
        {block.id, {}, share(std::vector<float>(block.size, 1.003f))});
    return x;
  }
};

double norm_of(const trained& x) {
  double squares = 0;
  for (const auto& part : x.parts)
    for (const auto v : *part.delta)
      squares += double{v} * v;
  return std::sqrt(squares);
}

} // namespace

TEST(rounded_trainer, knows_no_more_than_what_is_sent) {
  const site x{sent_as::bf16, 0};
  const auto fine = x.visit();
  auto coarse = fine;
  for (auto& y : coarse.fetched)
    y.values = rounded_to_bf16(y.values);
  ASSERT_NE(*coarse.fetched[0].values, *fine.fetched[0].values);
  const auto a = x.worker->train(fine), b = x.worker->train(coarse);
  ASSERT_TRUE(a && b);
  ASSERT_FALSE(a->parts.empty());
  // Rounding hides most of it in what is offered.
  EXPECT_EQ(a->loss, b->loss);
  for (std::size_t i = 0; i < a->parts.size(); ++i) {
    EXPECT_EQ(*a->parts[i].delta, *b->parts[i].delta);
    const auto rounded = rounded_to_bf16(a->parts[i].delta);
    EXPECT_EQ(*a->parts[i].delta, *rounded) << "an offer has all its digits";
    EXPECT_TRUE(a->parts[i].delta.is_bf16());
  }
  const auto scores =
               x.worker->evaluate({.versions = fine.fetched, .states = {}}),
             same =
               x.worker->evaluate({.versions = coarse.fetched, .states = {}});
  ASSERT_TRUE(scores && same);
  EXPECT_EQ(scores->global.loss, same->global.loss);
}

// However long it was, if it was too long for what rounding may add.
TEST(rounded_trainer, offers_nothing_that_rounding_makes_too_long) {
  const site free{sent_as::f32, 0};
  const auto whole = free.worker->train(free.visit());
  ASSERT_TRUE(whole);
  for (const double most : {1e-3, norm_of(*whole), norm_of(*whole) * 1.001}) {
    const site x{sent_as::bf16, most};
    const auto found = x.worker->train(x.visit());
    ASSERT_TRUE(found);
    EXPECT_LE(norm_of(*found), most);
    EXPECT_GT(norm_of(*found), 0.98 * most);
  }
}

} // namespace troupe::test::rounded_trainer_test
