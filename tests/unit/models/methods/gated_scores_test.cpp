// What clients get of a gate and of the experts behind it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/embedder.hpp"
#include "models/local_trainer.hpp"
#include "models/methods/router.hpp"
#include "tests/support/plain_gate.hpp"

namespace troupe::test {

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

} // namespace troupe::test
