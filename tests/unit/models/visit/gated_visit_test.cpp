// A method that this tree does not have yet, to see whether it can be said: a
// gate, experts that it chooses, and a part that nobody trains.
//
// What a frozen model makes of a row, h, is what the gate judges it by, with a
// share for each of M experts: softmax(R h). A client asks for the K experts
// with the largest sum of shares over its rows. Then gate and experts learn
// together from the loss of the answer of those K together,
//
//   z = sum over K of share_i answer_i,
//
// whose shares do not add up to one. A plain loop computes it again.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "models/methods/router.hpp"
#include "models/visit/visit.hpp"
#include "tests/support/next_visits.hpp"
#include "tests/support/same_visits.hpp"

namespace troupe::test::gated_visit_test {

namespace {

using namespace models;

struct gated_model {
  floats gate; ///< A line per expert, of all M.
  std::vector<std::size_t> chosen;
  std::vector<array> experts; ///< Those.
};

/// What the frozen model makes of each row: here the slope of its loss.
using impressions = std::map<std::uint32_t, floats>;

task<impressions> look(visit& v) {
  const auto& outputs = *v.on.model.outputs();
  const auto common = co_await v.frozen("common");
  floats said(v.on.rows.size() * outputs.size());
  co_await v.say(split::train, v.on.rows, said, {common});
  floats slopes(said.size());
  outputs.judge(split::train, v.on.rows, said, slopes);
  impressions found;
  for (std::size_t i = 0; i < v.on.rows.size(); ++i) {
    const auto one = line(slopes, i, outputs.size());
    found[v.on.rows[i]] = {one.begin(), one.end()};
  }
  co_return found;
}

reals shares_of(std::span<const float> gate, const floats& seen) {
  reals logits;
  for (std::size_t m = 0; m * seen.size() < gate.size(); ++m)
    logits.push_back(dot(line(gate, m, seen.size()), seen));
  return softmax(logits);
}

result<base_block> gate_of(const visit& v) {
  const auto experts = v.on.blocks.family("model").size();
  return v.base("gate", experts * v.parameters().size());
}

task<choice> ask_for_experts(visit& v) {
  const auto gate = co_await gate_of(v);
  const auto seen = co_await look(v);
  auto ids = v.on.blocks.family("model");
  std::map<block_id, double> asked;
  for (const auto& [row, impression] : seen) {
    const auto shares = shares_of(brought_here(gate.values), impression);
    for (std::size_t m = 0; m < ids.size(); ++m)
      asked[ids[m]] += shares[m];
  }
  std::ranges::stable_sort(ids, std::greater{},
                           [&](block_id x) { return asked[x]; });
  ids.resize(static_cast<std::size_t>(v.option("asked")));
  std::ranges::sort(ids);
  co_return choice{.chosen = ids, .disclosures = {}};
}

/// What the experts said of a batch, and what it comes to together.
struct answer {
  std::vector<reals> shares; ///< By row, of all M.
  std::vector<utterance> each;
  floats mixed;
};

task<answer> ask_all(visit& v, const gated_model& x, const impressions& seen,
                     batch on) {
  answer a;
  for (const auto row : on.rows)
    a.shares.push_back(shares_of(x.gate, seen.at(row)));
  a.mixed.resize(on.rows.size() * width);
  for (std::size_t e = 0; e < x.experts.size(); ++e) {
    a.each.push_back(co_await v.speak(on, {x.experts[e]}));
    for (std::size_t i = 0; i < on.rows.size(); ++i)
      add(line(a.mixed, i, width), a.shares[i][x.chosen[e]],
          line(a.each[e].values, i, width));
  }
  co_return a;
}

/// A share's slope is the product with what its expert said; nobody said what
/// was not asked.
void descend_gate(gated_model& x, double rate, const impressions& seen,
                  batch on, const answer& a, const floats& slopes) {
  for (std::size_t i = 0; i < on.rows.size(); ++i) {
    reals along(a.shares[i].size());
    for (std::size_t e = 0; e < a.each.size(); ++e)
      along[x.chosen[e]] =
        dot(line(slopes, i, width), line(a.each[e].values, i, width));
    const auto logits = logit_slopes(a.shares[i], along);
    for (std::size_t m = 0; m < logits.size(); ++m)
      add(line(x.gate, m, width),
          -rate * logits[m] / static_cast<double>(on.rows.size()),
          seen.at(on.rows[i]));
  }
}

task<done> descend_expert(visit& v, gated_model& x, std::size_t e, batch on,
                          const answer& a, const floats& slopes) {
  floats own(slopes.size());
  for (std::size_t i = 0; i < on.rows.size(); ++i)
    add(line(own, i, width),
        a.shares[i][x.chosen[e]] / static_cast<double>(on.rows.size()),
        line(slopes, i, width));
  co_await v.pull_back(a.each[e], own, {x.experts[e]});
  co_await v.update(kernels::sgd_step{.rate = static_cast<float>(v.on.rate)},
                    {.weights = x.experts[e], .gradient = v.gradient()});
  co_return {};
}

/// One step of gate and experts, from the same point. Gives the loss before.
task<double> step(visit& v, gated_model& x, const impressions& seen, batch on) {
  const auto a = co_await ask_all(v, x, seen, on);
  floats slopes(a.mixed.size());
  const auto judged =
    v.on.model.outputs()->judge(split::train, on.rows, a.mixed, slopes);
  descend_gate(x, v.option("gate_rate"), seen, on, a, slopes);
  for (std::size_t e = 0; e < x.experts.size(); ++e)
    co_await descend_expert(v, x, e, on, a, slopes);
  co_return std::accumulate(judged.losses.begin(), judged.losses.end(), 0.0)
    / static_cast<double>(on.rows.size());
}

task<done> train_gate_and_experts(visit& v) {
  const auto gate = co_await gate_of(v);
  const auto asked = co_await v.fetched_of("model", v.parameters().size());
  const auto seen = co_await look(v);
  gated_model x{.gate = brought_here(gate.values), .chosen = {}, .experts = {}};
  for (const auto& expert : asked) {
    x.chosen.push_back(expert.layout->instance);
    x.experts.push_back(v.copy_of(expert.values));
  }
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  for (std::uint64_t i = 0; i < v.plan.steps; ++i)
    v.out.loss += co_await step(v, x, seen, from.next_batch())
                  / static_cast<double>(v.plan.steps);
  co_await v.offer(gate, x.gate);
  for (std::size_t e = 0; e < asked.size(); ++e)
    co_await v.offer(asked[e], x.experts[e]);
  co_return {};
}

constexpr std::size_t experts = 3;

quadratic_setting gated(std::size_t in_step) {
  auto x = small_setting(
    {.name = "a gate and experts",
     .summary = {},
     .blocks = {{.name = "common", .where = scope::frozen},
                {.name = "gate"},
                {.name = "model", .where = scope::expert, .count = experts}},
     .legs = {{.fetch = {{"gate"}}, .choice = {"next"}},
              {.fetch = {{.family = "model", .chosen = true}}}}},
    {.train = train_gate_and_experts, .choose = ask_for_experts},
    {{"asked", 2}, {"gate_rate", 0.3}}, in_step);
  random_stream random{7};
  for (std::size_t i = 0; i < experts * width; ++i)
    x.families["gate"].push_back(static_cast<float>(random.normal()));
  x.frozen["common"] = {0.5f, -0.5f, 1.f, 0.f};
  return x;
}

/// The same, without visit or coroutine.
struct plain_gate {
  const quadratic_federation& on;
  const visit_input& in;
  reals gate = fetched(on, in, "gate");
  reals common{0.5, -0.5, 1, 0};

  reals shares(std::uint32_t row) const {
    const auto seen = slope_at(on.problem(), row, common);
    reals logits;
    for (std::size_t m = 0; m < experts; ++m) {
      const auto* at = gate.data() + m * width;
      logits.push_back(product(reals(at, at + width), seen));
    }
    return chances(logits);
  }
};

/// The two with the largest sums.
std::set<std::size_t> asked(const plain_gate& x,
                            const std::vector<std::uint32_t>& rows) {
  reals sum(experts);
  for (const auto row : rows)
    for (std::size_t m = 0; m < experts; ++m)
      sum[m] += x.shares(row)[m];
  std::set<std::size_t> all{0, 1, 2};
  all.erase(
    static_cast<std::size_t>(std::ranges::min_element(sum) - sum.begin()));
  return all;
}

struct plain_outcome {
  reals gate;
  std::map<std::size_t, reals> experts;
  double loss = 0;
};

plain_outcome plain_visit(const quadratic_federation& on,
                          const visit_input& in) {
  plain_gate x{on, in};
  const auto& rows = on.task()->clients.train[in.visit.client.value - 1];
  plain_outcome now;
  for (const auto e : asked(x, rows))
    now.experts[e] = fetched(on, in, "model." + std::to_string(e));
  const auto batches = batches_of(rows, 2 * ((rows.size() + 3) / 4));
  for (const auto& batch : batches) {
    auto gate = x.gate;
    auto moved = now.experts;
    const auto part = 1 / static_cast<double>(batch.size());
    for (const auto row : batch) {
      const auto p = x.shares(row);
      const auto seen = slope_at(on.problem(), row, x.common);
      reals z(width);
      for (const auto& [e, w] : now.experts)
        for (std::size_t j = 0; j < width; ++j)
          z[j] += p[e] * w[j];
      const auto slope = slope_at(on.problem(), row, z);
      now.loss += part * loss_at(on.problem(), row, z)
                  / static_cast<double>(batches.size());
      reals along(experts);
      for (const auto& [e, w] : now.experts)
        along[e] = product(slope, w);
      const auto mean = product(p, along);
      for (std::size_t j = 0; j < width; ++j) {
        for (std::size_t m = 0; m < experts; ++m)
          gate[m * width + j] -=
            0.3 * part * p[m] * (along[m] - mean) * seen[j];
        for (auto& [e, w] : moved)
          w[j] -= 0.1 * part * p[e] * slope[j];
      }
    }
    x.gate = gate;
    now.experts = moved;
  }
  now.gate = x.gate;
  return now;
}

} // namespace

TEST(gated_visit, comes_to_what_a_plain_loop_does) {
  quadratic_federation testee{gated(1)};
  testee.rounds(2);
  std::set<std::set<std::size_t>> choices;
  for (const auto& visit : visits_of(testee)) {
    SCOPED_TRACE(visit.visit.client.value);
    const auto found = testee.trainer().train(visit);
    ASSERT_TRUE(found) << found.error().context;
    const auto expected = plain_visit(testee, visit);
    EXPECT_EQ(found->parts.size(), 3u); // The gate and two experts.
    expect_offered(testee, visit, *found, "gate", expected.gate);
    std::set<std::size_t> chosen;
    for (const auto& [e, values] : expected.experts) {
      expect_offered(testee, visit, *found, "model." + std::to_string(e),
                     values);
      chosen.insert(e);
    }
    choices.insert(chosen);
    EXPECT_NEAR(found->loss, expected.loss, 1e-6);
  }
  EXPECT_GT(choices.size(), 1u); // Or the gate would have nothing to say.
}

TEST(gated_visit, in_step_with_others_has_the_bits_of_each_alone) {
  quadratic_federation one{gated(1)};
  one.rounds(2);
  const auto visits = visits_of(one);
  quadratic_federation three{gated(3)};
  expect_same(three.trainer().train(visits), alone(one.trainer(), visits));
}

} // namespace troupe::test::gated_visit_test
