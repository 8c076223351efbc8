// A client that has what many users have is scored on each user's rows.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "models/local_trainer.hpp"
#include "models/tasks/quadratic.hpp"
#include "tests/support/quadratic_federation.hpp"
#include "tests/support/small_recipes.hpp"

namespace troupe::test {

namespace {

using namespace models;

constexpr quadratic_options one{.dimension = 2, .clients = 1};

/// Each row costs one more than its number.
class counted final : public quadratic {
public:
  using quadratic::quadratic;

  result<scores> evaluate(split, std::span<const std::uint32_t> on) override {
    scores all{.loss = 0, .correct = 0, .count = on.size()};
    for (const auto row : on)
      all.loss += row + 1;
    return all;
  }
};

evaluated scored(const std::vector<std::vector<std::uint32_t>>& users_test) {
  const quadratic_federation federation{
    {.method = shared_model("sgd"), .problem = one}};
  auto task = std::make_shared<local_task>(*federation.task());
  task->test_size = 4;
  task->clients.test = {{0, 1, 2, 3}};
  task->clients.users_test = users_test;
  const auto trainer = make_local_trainer(
    task, std::make_unique<counted>(make_quadratic_problem(one)),
    *kernels::make_backend({}));
  EXPECT_TRUE(trainer) << trainer.error().context;
  const auto found =
    (*trainer)->evaluate({.versions = federation.visit(1, 5).fetched,
                          .per_client = true,
                          .states = {}});
  EXPECT_TRUE(found) << found.error().context;
  return *found;
}

std::map<std::uint64_t, double> losses_in(const evaluated& x) {
  std::map<std::uint64_t, double> all;
  for (const auto& [client, own] : x.per_client)
    all[client.value] = own.mean_loss();
  return all;
}

} // namespace

TEST(users_scores, are_of_each_user_by_itself) {
  const auto x = scored({{0, 1, 2}, {}, {3}});
  // Whose stream has no window counts as nobody.
  EXPECT_EQ(losses_in(x),
            (std::map<std::uint64_t, double>{{1, 2.0}, {3, 4.0}}));
  EXPECT_EQ(x.global.mean_loss(), 2.5);
}

TEST(users_scores, are_the_clients_where_it_is_one_user) {
  EXPECT_EQ(losses_in(scored({})),
            (std::map<std::uint64_t, double>{{1, 2.5}}));
}

} // namespace troupe::test
