// A method that this tree does not have yet, to see whether it can be said: two
// sets of rows for two sets of parameters, in turn.
//
// A client's model is a mixture, by the softmax of two logits, of one that all
// share and one of its own. These learn from training rows while the logits
// stand still; after every `period`-th step of theirs, counted over all visits,
// the logits make `router_steps` on validation rows while the models do. A
// plain loop computes it again.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "models/methods/router.hpp"
#include "models/visit/visit.hpp"
#include "tests/support/next_visits.hpp"
#include "tests/support/same_visits.hpp"

namespace troupe::test::alternating_visit_test {

namespace {

using namespace models;

struct generalist_and_specialist {
  std::vector<array> models; ///< What all share, and the client's own.
  const_array nothing;
  floats router;

  reals shares() const {
    return softmax(reals{router.begin(), router.end()});
  }
};

/// Of the mixture, which is live then. Gives the loss.
task<double> slope_of_mixture(visit& v, const generalist_and_specialist& x,
                              batch on, array to) {
  const auto shares = x.shares();
  const auto live = v.parameters();
  co_await v.move(live, x.nothing, shares[0], x.models[0]);
  co_await v.move(live, live, shares[1], x.models[1]);
  co_return co_await v.slope(on, to);
}

task<done> alternate(visit& v) {
  const auto base = co_await v.take();
  const auto own = co_await v.own_or("own_model", base.values);
  const floats even(2);
  const auto router = co_await v.own_or("mixture", even);
  generalist_and_specialist x{
    .models = {v.copy_of(base.values), v.copy_of(own)},
    .nothing = v.room(own.size()),
    .router = brought_here(router)};
  batch_sequence training{v.on.rows, v.on.how, v.in.seed};
  const auto checked = v.validation_rows();
  auto& made = v.out.next.counters["steps"]; // In all visits together.
  const auto slope = v.room(own.size());
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    v.out.loss += co_await slope_of_mixture(v, x, training.next_batch(), slope)
                  / static_cast<double>(v.plan.steps);
    const auto shares = x.shares();
    for (std::size_t m = 0; m < 2; ++m)
      co_await v.move(x.models[m], x.models[m], -v.on.rate * shares[m], slope);
    if (++made % static_cast<std::uint64_t>(v.option("period")) != 0
        || checked.empty())
      continue;
    batch_sequence validation{checked, v.on.how,
                              derive_seed(v.in.seed, "v", i)};
    for (auto n = v.option("router_steps"); n > 0; --n) {
      co_await slope_of_mixture(v, x, validation.next_batch(), slope);
      const auto at = x.shares();
      const auto along =
        logit_slopes(at, reals{dot(slope.host(), x.models[0].host()),
                               dot(slope.host(), x.models[1].host())});
      for (std::size_t m = 0; m < 2; ++m)
        x.router[m] -= static_cast<float>(v.option("router_rate") * along[m]);
    }
  }
  co_await v.offer(base, x.models[0]);
  co_await v.keep("own_model", x.models[1]);
  co_await v.keep("mixture", x.router);
  co_return {};
}

quadratic_setting alternating(std::size_t in_step) {
  return small_setting(
    {.name = "a generalist and a specialist",
     .summary = {},
     .blocks = {{.name = "model", .weight = weight_rule::one},
                {.name = "own_model", .where = scope::personal},
                {.name = "mixture", .where = scope::personal}},
     .legs = {{.fetch = {{"model"}}}}},
    {.train = alternate},
    {{"period", 3}, {"router_steps", 2}, {"router_rate", 0.2}}, in_step);
}

/// The same, without visit or coroutine.
struct plain_mixture {
  const quadratic_problem& problem;
  std::vector<reals> models;
  reals router;
  double loss = 0;

  /// The mean slope over a batch at the mixture, whose loss is added.
  reals slope(const std::vector<std::uint32_t>& batch, double part) {
    const auto p = chances(router);
    reals w(width), mean(width);
    for (std::size_t j = 0; j < width; ++j)
      w[j] = p[0] * models[0][j] + p[1] * models[1][j];
    for (const auto row : batch) {
      const auto one = slope_at(problem, row, w);
      for (std::size_t j = 0; j < width; ++j)
        mean[j] += one[j] / static_cast<double>(batch.size());
      loss +=
        part * loss_at(problem, row, w) / static_cast<double>(batch.size());
    }
    return mean;
  }

  void move_models(const reals& slope) {
    const auto p = chances(router);
    for (std::size_t m = 0; m < 2; ++m)
      for (std::size_t j = 0; j < width; ++j)
        models[m][j] -= 0.1 * p[m] * slope[j];
  }

  void move_router(const reals& slope) {
    const auto p = chances(router);
    const reals along{product(slope, models[0]), product(slope, models[1])};
    for (std::size_t m = 0; m < 2; ++m)
      router[m] -= 0.2 * p[m] * (along[m] - product(p, along));
  }
};

reals kept_or(const visit_input& in, const std::string& name, reals otherwise) {
  if (!in.state || !in.state->blocks.contains(name))
    return otherwise;
  const auto kept = in.state->blocks.at(name).own_view();
  return {kept.begin(), kept.end()};
}

plain_mixture plain_visit(const quadratic_federation& on,
                          const visit_input& in) {
  const auto base = fetched(on, in, "model");
  plain_mixture x{.problem = on.problem(),
                  .models = {base, kept_or(in, "own_model", base)},
                  .router = kept_or(in, "mixture", {0, 0})};
  const auto client = in.visit.client.value - 1;
  const auto& rows = on.task()->clients.train[client];
  const auto& validation = on.task()->clients.own_validation[client];
  const auto steps = 2 * ((rows.size() + 3) / 4);
  auto made = in.state ? in.state->counters.at("steps") : 0;
  for (const auto& batch : batches_of(rows, steps)) {
    x.move_models(x.slope(batch, 1 / static_cast<double>(steps)));
    if (++made % 3 != 0 || validation.empty())
      continue;
    for (const auto& checked : batches_of(validation, 2))
      x.move_router(x.slope(checked, 0));
  }
  return x;
}

} // namespace

TEST(alternating_visit, comes_to_what_a_plain_loop_does) {
  quadratic_federation testee{alternating(1)};
  for (int round = 0; round < 3; ++round) {
    for (const auto& visit : visits_of(testee)) {
      SCOPED_TRACE(visit.visit.client.value);
      const auto found = testee.trainer().train(visit);
      ASSERT_TRUE(found) << found.error().context;
      const auto expected = plain_visit(testee, visit);
      EXPECT_EQ(found->parts.size(), 1u);
      expect_offered(testee, visit, *found, "model", expected.models[0]);
      expect_kept(*found, "own_model", expected.models[1]);
      expect_kept(*found, "mixture", expected.router);
      EXPECT_NEAR(found->loss, expected.loss, 1e-6);
      // Who has no validation rows never learns whom to trust; nor does
      // anybody while the two are equal.
      EXPECT_EQ(expected.router[0] == 0,
                visit.visit.client.value == 2 || round == 0);
    }
    testee.round();
  }
}

TEST(alternating_visit, in_step_with_others_has_the_bits_of_each_alone) {
  quadratic_federation one{alternating(1)};
  one.rounds(2);
  const auto visits = visits_of(one);
  quadratic_federation three{alternating(3)};
  expect_same(three.trainer().train(visits), alone(one.trainer(), visits));
}

} // namespace troupe::test::alternating_visit_test
