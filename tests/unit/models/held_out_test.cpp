// Who is never invited is scored at every evaluation, and nobody else is for
// it.

#include "models/local_trainer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/tasks/quadratic.hpp"
#include "models/visit/visit.hpp"
#include "tests/support/quadratic_federation.hpp"
#include "tests/support/small_recipes.hpp"

namespace troupe::test::held_out_test {

namespace {

using namespace models;

constexpr quadratic_options three{.dimension = 2, .clients = 3};

enum class serves_strangers : std::uint8_t { no, yes };

task<answers> say_nothing(visit&, std::span<const std::uint32_t>) {
  co_return answers{};
}

void say_that_it_summed(const evaluation_input&, const local_problem&,
                        evaluated& to) {
  to.method_results["summed"] = 1;
}

/// Three clients on quadratics, of which the last is held out.
struct site {
  explicit site(serves_strangers how) {
    auto task = std::make_shared<local_task>(*federation.task());
    task->clients.held_out = 1;
    task->method.roles.front().procedure = {"summed"};
    auto summed = local_methods().at("sgd");
    summed.summary = say_that_it_summed;
    if (how == serves_strangers::yes)
      summed.answer = say_nothing;
    task->table["summed"] = summed;
    auto made = make_local_trainer(
      task, std::make_unique<quadratic>(make_quadratic_problem(three)),
      *kernels::make_backend({}));
    EXPECT_TRUE(made) << made.error().context;
    trainer = std::move(*made);
  }

  evaluated scored(bool per_client, bool held_out) {
    const auto found =
      trainer->evaluate({.versions = federation.visit(1, 5).fetched,
                         .per_client = per_client,
                         .states = {},
                         .held_out = held_out});
    EXPECT_TRUE(found) << found.error().context;
    return *found;
  }

  quadratic_federation federation{
    {.method = shared_model("sgd"), .problem = three}};
  std::unique_ptr<models::trainer> trainer;
};

/// Is right of the rows after the third.
class graded final : public quadratic {
public:
  using quadratic::quadratic;

  result<scores> evaluate(split, std::span<const std::uint32_t> on) override {
    return scores{
      .loss = 1, .correct = on.front() > 2 ? on.size() : 0, .count = on.size()};
  }
};

using clients = std::vector<std::uint64_t>;

clients clients_in(const evaluated& x) {
  clients all;
  for (const auto& [client, own] : x.per_client)
    all.push_back(client.value);
  return all;
}

} // namespace

TEST(held_out, are_scored_in_any_case) {
  site x{serves_strangers::no};
  EXPECT_EQ(clients_in(x.scored(false, false)), clients{});
  EXPECT_EQ(clients_in(x.scored(false, true)), clients{3});
  EXPECT_EQ(clients_in(x.scored(true, true)), (clients{1, 2, 3}));
}

TEST(held_out, are_scored_alone_as_among_all) {
  site x{serves_strangers::no};
  const auto alone = x.scored(false, true);
  const auto all = x.scored(true, true);
  EXPECT_EQ(alone.per_client.at({3}).loss, all.per_client.at({3}).loss);
  EXPECT_EQ(alone.global.loss, all.global.loss);
}

// What is summed up is of all clients, unless a method says how it serves
// strangers.
TEST(held_out, are_summed_up_alone_where_strangers_are_served) {
  site any{serves_strangers::no};
  EXPECT_FALSE(any.scored(false, true).method_results.contains("summed"));
  EXPECT_TRUE(any.scored(true, true).method_results.contains("summed"));
  site serving{serves_strangers::yes};
  EXPECT_TRUE(serving.scored(false, true).method_results.contains("summed"));
  EXPECT_FALSE(serving.scored(false, false).method_results.contains("summed"));
}

// Under a method that knows of no gate, too.
TEST(held_out, have_an_accuracy_of_each_group) {
  const quadratic_options six{.dimension = 2, .clients = 6};
  const quadratic_federation federation{
    {.method = shared_model("sgd"), .problem = six}};
  auto task = std::make_shared<local_task>(*federation.task());
  const auto figures = [&](std::size_t groups) {
    task->groups = groups;
    task->clients.held_out = 4;
    const auto trainer = make_local_trainer(
      task, std::make_unique<graded>(make_quadratic_problem(six)),
      *kernels::make_backend({}));
    EXPECT_TRUE(trainer) << trainer.error().context;
    const auto found =
      (*trainer)->evaluate({.versions = federation.visit(1, 5).fetched,
                            .per_client = true,
                            .states = {},
                            .held_out = true});
    EXPECT_TRUE(found) << found.error().context;
    return found->method_results;
  };
  // Clients 3 and 5 are of the first, and each has one row of its own number.
  EXPECT_EQ(figures(2), (std::map<std::string, double>{
                          {"accuracy_group_1", 0.5}, {"accuracy_group_2", 1}}));
  EXPECT_TRUE(figures(1).empty()) << "there is nobody else";
}

} // namespace troupe::test::held_out_test
