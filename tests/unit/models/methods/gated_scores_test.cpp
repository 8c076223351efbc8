// What clients get of a gate and of the experts behind it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/embedder.hpp"
#include "models/local_trainer.hpp"
#include "models/methods/router.hpp"
#include "tests/support/plain_gate.hpp"

namespace troupe::test::gated_scores_test {

namespace {

using models::split;

/// The loss of a client's test row under an expert.
double loss_of(const models::quadratic_problem& x, std::uint32_t row,
               std::span<const float> w) {
  double loss = 0;
  for (std::size_t j = 0; j < width; ++j) {
    const auto apart = w[j] - x.centre[row * width + j];
    loss += 0.5 * x.curvature[row * width + j] * apart * apart;
  }
  return loss;
}

/// Is right of every third row.
class graded final : public models::quadratic {
public:
  using quadratic::quadratic;

  static bool is_right(std::uint32_t row) {
    return row % 3 == 0;
  }

  result<models::scores> evaluate(split part,
                                  std::span<const std::uint32_t> on) override {
    auto found = quadratic::evaluate(part, on);
    if (found)
      found->correct =
        static_cast<std::uint64_t>(std::ranges::count_if(on, is_right));
    return found;
  }
};

/// A common model that sees so many rows, and the next one not.
class short_sighted final : public models::quadratic {
public:
  short_sighted(std::shared_ptr<const models::quadratic_problem> problem,
                std::size_t& left)
    : quadratic(std::move(problem)),
      left_(left) {
    // nop
  }

  result<void> embed(split part, std::uint32_t row,
                     std::span<float> out) override {
    if (left_-- == 0)
      return fail(errc::invalid_data, "a row that cannot be seen");
    return quadratic::embed(part, row, out);
  }

private:
  std::size_t& left_;
};

/// Of clients with labels, as it were.
std::unique_ptr<models::trainer>
graded_after(const quadratic_federation& x,
             const std::function<void(models::local_task&)>& change) {
  auto task = *x.task();
  change(task);
  auto made = models::make_local_trainer(
    std::make_shared<const models::local_task>(std::move(task)),
    std::make_unique<graded>(models::make_quadratic_problem(x.problem().how)),
    kernels::make_backend({}).value());
  EXPECT_TRUE(made) << made.error().context;
  return std::move(*made);
}

models::evaluated evaluated_by(quadratic_federation& x,
                               models::trainer& trainer) {
  models::evaluation_input in{
    .versions = x.visit(1, 1).fetched, .per_client = true, .states = {}};
  auto found = trainer.evaluate(in);
  EXPECT_TRUE(found) << found.error().context;
  return found ? *found : models::evaluated{};
}

} // namespace

// Who trains asks by its training rows; who is held out by what is to be
// answered, which has no label that anybody reads.
TEST(gated_scores, are_of_the_one_expert_that_each_row_goes_to) {
  for (const std::size_t held_out : {0, 2}) {
    quadratic_federation testee{gated_setting("ddome", crowd(4, 2, 2))};
    const auto trainer = graded_after(testee, [&](models::local_task& x) {
      x.clients.held_out = held_out;
      x.clients.test_owners = {0, 1, 2, 3, 0, 1};
    });
    const auto in = testee.visit(1, 1);
    const plain_gate gate{.values = fetched(testee, in, "gate"), .experts = 4};
    const auto found = evaluated_by(testee, *trainer);
    std::set<std::uint32_t> asked, used;
    double owned = 0, of_chosen = 0, owned_of_chosen = 0, right = 0;
    reals mean(4);
    for (std::uint64_t k = 1; k <= 6; ++k) {
      const auto row = static_cast<std::uint32_t>(k - 1);
      const bool out = k > 6 - held_out;
      const auto sums = out ? asking(testee.problem(), gate, split::test, {row})
                            : asking(testee.problem(), gate, split::train,
                                     testee.task()->clients.train[k - 1]);
      const auto request = best_of(sums, 2);
      const auto logits =
        gate.logits(seen_of(testee.problem(), split::test, row));
      const auto route =
        logits[request[0]] >= logits[request[1]] ? request[0] : request[1];
      EXPECT_NEAR(
        found.per_client.at({k}).loss,
        loss_of(testee.problem(), row,
                testee.loop().values("model." + std::to_string(route))),
        1e-5);
      const auto chances = models::softmax(logits);
      for (std::size_t m = 0; m < 4; ++m)
        mean[m] += chances[m] / 6;
      if (held_out > 0 && !out)
        continue;
      asked.insert(request.begin(), request.end());
      used.insert(route);
      owned += best_of(logits, 1)[0] == row % 4;
      right += graded::is_right(row);
      if (std::ranges::find(request, row % 4) == request.end())
        continue;
      ++of_chosen;
      owned_of_chosen += route == row % 4;
    }
    const auto watched = static_cast<double>(held_out > 0 ? held_out : 6);
    const auto& figures = found.method_results;
    EXPECT_EQ(figures.at("experts_asked"), asked.size());
    EXPECT_EQ(figures.at("experts_used"), used.size());
    EXPECT_NEAR(figures.at("owner_accuracy"), owned / watched, 1e-9);
    ASSERT_EQ(figures.contains("owner_accuracy_chosen"), of_chosen > 0);
    if (of_chosen > 0) {
      EXPECT_NEAR(figures.at("owner_accuracy_chosen"),
                  owned_of_chosen / of_chosen, 1e-9);
    }
    EXPECT_NEAR(figures.at("expert_accuracy"), right / watched, 1e-9);
    EXPECT_NEAR(figures.at("gate_entropy"), models::entropy(mean) / std::log(4),
                1e-5);
    EXPECT_FALSE(figures.contains("clients_without_routes"));
  }
}

// The others are said all the same, and of how many they are not.
TEST(gated_scores, say_of_how_many_clients_they_know_no_routes) {
  quadratic_federation testee{gated_setting("ddome", crowd(4, 2, 2))};
  const auto problem = models::make_quadratic_problem(testee.problem().how);
  const auto figures = [&](std::size_t& left) {
    const auto trainer = graded_after(testee, [&](models::local_task& x) {
      x.make_common = [&]() -> result<std::unique_ptr<models::objective>> {
        return std::make_unique<short_sighted>(problem, left);
      };
      // Whatever is seen is seen anew.
      x.embedded = std::make_shared<models::embedding_table>(std::size_t{0});
    });
    return evaluated_by(testee, *trainer).method_results;
  };
  constexpr std::size_t many = 1'000'000;
  auto left = many;
  EXPECT_FALSE(figures(left).contains("clients_without_routes"));
  left = many - left - 1; // The last look of all fails.
  const auto found = figures(left);
  EXPECT_EQ(found.at("clients_without_routes"), 1);
  EXPECT_TRUE(found.contains("experts_used"));
}

TEST(gated_scores, name_no_owners_where_some_have_no_expert) {
  for (const std::uint32_t last : {1, 2}) {
    quadratic_federation testee{gated_setting("fedmix", {{"experts", 2}})};
    const auto trainer = trainer_after(testee, [&](models::local_task& x) {
      x.clients.test_owners = {0, 1, 0, 1, ~0u, last}; // Of one kind nobody.
    });
    const auto figures = evaluated_by(testee, *trainer).method_results;
    EXPECT_EQ(figures.contains("owner_accuracy"), last < 2);
    EXPECT_EQ(figures.contains("owner_accuracy_chosen"), last < 2);
    EXPECT_TRUE(figures.contains("experts_used"));
    EXPECT_TRUE(figures.contains("expert_accuracy"));
  }
}

// More rows than are looked at together, of one client that nobody invites.
TEST(gated_scores, are_of_all_rows_where_there_are_many) {
  constexpr std::size_t all = 2100;
  auto how = gated_setting("ddome", crowd(4, 2, 0), all);
  how.problem.rows_per_client = 1;
  quadratic_federation testee{how};
  std::vector<std::uint32_t> rows(all);
  std::iota(rows.begin(), rows.end(), 0u);
  const auto trainer = trainer_after(testee, [&](models::local_task& x) {
    x.clients.held_out = 1;
    x.clients.test.assign(all, {});
    x.clients.test.back() = rows;
    for (const auto row : rows)
      x.clients.test_owners.push_back(row % 4);
  });
  const auto gate = gate_of(testee, testee.visit(1, 1));
  const auto found = evaluated_by(testee, *trainer);
  const auto sums = asking(testee.problem(), gate, split::test, rows);
  const auto asked = best_of(sums, 2);
  double loss = 0;
  double owned = 0;
  for (const auto row : rows) {
    const auto logits =
      gate.logits(seen_of(testee.problem(), split::test, row));
    const auto route =
      logits[asked[0]] >= logits[asked[1]] ? asked[0] : asked[1];
    loss += loss_of(testee.problem(), row,
                    testee.loop().values("model." + std::to_string(route)));
    owned += best_of(logits, 1)[0] == row % 4;
  }
  EXPECT_EQ(found.per_client.at({all}).count, all);
  EXPECT_NEAR(found.per_client.at({all}).loss, loss, 1e-6 * loss);
  EXPECT_NEAR(found.method_results.at("owner_accuracy"), owned / all, 1e-9);
  // Of the mean of what the gate gives, and not the mean over rows.
  auto mean = sums;
  for (auto& one : mean)
    one /= all;
  EXPECT_NEAR(found.method_results.at("gate_entropy"),
              models::entropy(mean) / std::log(4.0), 1e-6);
}

namespace {

/// What those that a client asks for weigh in one of its test rows.
reals weights_in(const quadratic_federation& x, const plain_gate& gate,
                 const std::vector<std::uint32_t>& asked, std::uint32_t row,
                 bool renormalised) {
  const auto all =
    models::softmax(gate.logits(seen_of(x.problem(), split::test, row)));
  reals weights;
  double sum = 0;
  for (const auto m : asked)
    sum += weights.emplace_back(all[m]);
  for (auto& one : weights)
    one /= renormalised ? sum : 1;
  return weights;
}

} // namespace

// Two of four, whose weights add up to less than one as they are printed.
TEST(gated_scores, of_a_mixture_of_some_weigh_what_these_say) {
  for (const double renormalise : {0, 1}) {
    quadratic_federation testee{gated_setting(
      "ddome", crowd(4, 2, 0, {{"answer", 1}, {"renormalise", renormalise}}))};
    const auto in = testee.visit(1, 1);
    const auto gate = gate_of(testee, in);
    const auto found = evaluated_by(testee, testee.trainer());
    for (std::uint32_t row = 0; row < 6; ++row) {
      const auto asked = best_of(
        asking(testee.problem(), gate, split::train, rows_of(testee, row + 1)),
        2);
      const auto weights =
        weights_in(testee, gate, asked, row, renormalise > 0);
      floats mixed(width);
      for (std::size_t e = 0; e < 2; ++e)
        for (std::size_t j = 0; j < width; ++j)
          mixed[j] += static_cast<float>(
            weights[e]
            * testee.loop().values("model." + std::to_string(asked[e]))[j]);
      EXPECT_NEAR(found.per_client.at({row + 1}).loss,
                  loss_of(testee.problem(), row, mixed), 1e-5);
    }
  }
}

// The loss that is trained, -log of the sum of w p, and not that of the same
// chances made to add up to one.
TEST(gated_scores, of_mixed_chances_are_by_the_loss_that_is_trained) {
  for (const double renormalise : {0, 1}) {
    auto how = gated_setting(
      "ddome",
      crowd(4, 2, 0,
            {{"answer", 1}, {"mix", 1}, {"renormalise", renormalise}}));
    how.make_model = with_logits;
    quadratic_federation testee{how};
    const auto in = testee.visit(1, 1);
    const auto gate = gate_of(testee, in);
    const auto found = evaluated_by(testee, testee.trainer());
    for (std::uint32_t row = 0; row < 6; ++row) {
      const auto asked = best_of(
        asking(testee.problem(), gate, split::train, rows_of(testee, row + 1)),
        2);
      const auto weights =
        weights_in(testee, gate, asked, row, renormalise > 0);
      reals chances(width);
      for (std::size_t e = 0; e < 2; ++e) {
        const auto& said =
          testee.loop().values("model." + std::to_string(asked[e]));
        const auto own = models::softmax(reals(said.begin(), said.end()));
        for (std::size_t j = 0; j < width; ++j)
          chances[j] += weights[e] * own[j];
      }
      const auto right = row % width; // As `quadratic_logits` says.
      const auto& client = found.per_client.at({row + 1});
      EXPECT_NEAR(client.loss, -std::log(chances[right]), 1e-5);
      EXPECT_EQ(client.correct, best_of(chances, 1)[0] == right ? 1u : 0u);
    }
  }
}

TEST(gated_scores, of_a_mixture_weigh_what_all_say) {
  for (const double renormalise : {0, 1}) {
    quadratic_federation testee{
      gated_setting("fedmix", {{"experts", 3}, {"renormalise", renormalise}})};
    const auto in = testee.visit(1, 1);
    const plain_gate gate{.values = fetched(testee, in, "gate"), .experts = 3};
    const auto found = evaluated_by(testee, testee.trainer());
    for (std::uint32_t row = 0; row < 6; ++row) {
      // All three are there, so that their weights add up to one in any case.
      const auto weights = models::softmax(
        gate.logits(seen_of(testee.problem(), split::test, row)));
      floats mixed(width);
      for (std::size_t m = 0; m < 3; ++m)
        for (std::size_t j = 0; j < width; ++j)
          mixed[j] += static_cast<float>(
            weights[m] * testee.loop().values("model." + std::to_string(m))[j]);
      EXPECT_NEAR(found.per_client.at({row + 1}).loss,
                  loss_of(testee.problem(), row, mixed), 1e-5);
    }
  }
}

} // namespace troupe::test::gated_scores_test
