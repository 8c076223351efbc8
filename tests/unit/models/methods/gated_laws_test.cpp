// What a gate and experts come to in rounds, and where they are another method.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/moving_statistics.hpp"
#include "tests/support/plain_gate.hpp"

namespace troupe::test::gated_laws_test {

namespace {

using models::split;

/// One round with all clients, each in its role.
void round_of(quadratic_federation& x, std::uint64_t number) {
  std::vector<invited> cohort;
  for (std::uint64_t k = 1; k <= x.problem().how.clients; ++k)
    cohort.push_back(
      {.client = {k},
       .seed = 100 * number + k,
       .role = policies::role_of({k}, x.task()->method.roles).value()});
  const auto done = x.loop().round(cohort);
  ASSERT_TRUE(done) << done.error().context;
}

std::map<std::string, floats> all_values(quadratic_federation& x) {
  std::map<std::string, floats> all;
  for (const auto& block : x.blocks().blocks)
    all[block.name] = x.loop().values(block.name).copy();
  return all;
}

std::size_t versions_of(quadratic_federation& x, std::string_view block) {
  return x.loop().line(x.blocks().find(block)->line).size();
}

/// Of so many experts over quadratics of four values.
floats gate_that_prefers(std::size_t expert, std::size_t experts) {
  floats gate(width * width + width + experts * width + experts);
  gate[gate.size() - experts + expert] = 5;
  return gate;
}

} // namespace

// What nobody trained keeps its version; the gate's names all.
TEST(ddome_round, merges_each_expert_from_who_trained_it) {
  quadratic_federation testee{
    gated_setting("ddome", crowd(5, 1, 1, {{"gate_rate", 0.1}}), 3)};
  std::map<std::string, reals> sums; // Of what was offered, by block.
  std::map<std::string, std::vector<visit_id>> who;
  for (std::uint64_t k = 1; k <= 3; ++k) {
    const auto found = testee.trainer().train(served(testee, k, 100 + k));
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(found->parts.size(), 2u);
    for (const auto& part : found->parts) {
      EXPECT_EQ(part.weight, 10);
      const auto& name = testee.blocks().find(part.block)->name;
      auto& sum = sums[name];
      sum.resize(part.delta->size());
      for (std::size_t j = 0; j < sum.size(); ++j)
        sum[j] += (*part.delta)[j];
      who[name].push_back({{k}, {1}});
    }
  }
  const auto before = all_values(testee);
  round_of(testee, 1);
  EXPECT_EQ(who.at("gate").size(), 3u);
  int untouched = 0;
  for (const auto& [name, values] : before) {
    SCOPED_TRACE(name);
    const auto& now = testee.loop().values(name);
    if (!sums.contains(name)) {
      ++untouched;
      EXPECT_EQ(now, values);
      EXPECT_EQ(versions_of(testee, name), 1u);
      continue;
    }
    EXPECT_EQ(versions_of(testee, name), 2u);
    EXPECT_EQ(
      testee.loop().line(testee.blocks().find(name)->line).back().merged,
      who.at(name));
    const auto count = static_cast<double>(who.at(name).size());
    for (std::size_t j = 0; j < values.size(); ++j)
      EXPECT_NEAR(now[j], values[j] + sums.at(name)[j] / count, 1e-6);
  }
  EXPECT_GE(untouched, 2);
}

TEST(ddome_is_fedmix, with_all_experts) {
  for (const double renormalise : {0, 1}) {
    SCOPED_TRACE(renormalise);
    const options said{{"renormalise", renormalise}, {"gate_rate", 0.1}};
    quadratic_federation one{gated_setting("ddome", crowd(3, 3, 0, said))};
    auto all = said;
    all["experts"] = 3;
    quadratic_federation two{gated_setting("fedmix", all)};
    ASSERT_EQ(all_values(one), all_values(two));
    for (std::uint64_t i = 1; i <= 3; ++i) {
      round_of(one, i);
      round_of(two, i);
      EXPECT_EQ(one.loop().loss(), two.loop().loss());
    }
    EXPECT_EQ(all_values(one), all_values(two));
    EXPECT_EQ(versions_of(one, "model.2"), 4u);
  }
}

// Also with statistics and momentum.
TEST(ddome_is_fedavg, with_one_expert_that_the_gate_always_prefers) {
  const auto changed = [](quadratic_setting x) {
    x.how.momentum = 0.9;
    x.how.shuffle = true;
    x.families["model.buffers"] = {0.5f, 1.f};
    x.make_model = [](auto problem) -> std::unique_ptr<models::objective> {
      return std::make_unique<moving_statistics>(problem);
    };
    return x;
  };
  auto how = changed(gated_setting(
    "ddome", crowd(3, 1, 0, {{"renormalise", 1}, {"gate_rate", 0.1}})));
  how.initial["gate"] = gate_that_prefers(0, 3);
  quadratic_federation testee{how};
  quadratic_federation plain{changed(gated_setting("fedavg", {}))};
  for (std::uint64_t i = 1; i <= 3; ++i) {
    round_of(testee, i);
    round_of(plain, i);
    EXPECT_EQ(testee.loop().loss(), plain.loop().loss());
  }
  EXPECT_EQ(testee.loop().values("model.0"), plain.loop().values("model"));
  EXPECT_EQ(testee.loop().values("model.buffers.0"),
            plain.loop().values("model.buffers"));
  EXPECT_EQ(testee.loop().values("gate"), gate_that_prefers(0, 3));
  EXPECT_EQ(versions_of(testee, "model.0"), 4u);
  EXPECT_EQ(versions_of(testee, "model.1"), 1u);
  EXPECT_EQ(versions_of(testee, "model.2"), 1u);
}

// Each expert has the bits of its anchor's local training, and the gate is
// multi-class regression on owners.
TEST(only_anchors, train_alone_and_teach_a_plain_regression) {
  quadratic_federation testee{
    gated_setting("ddome", crowd(3, 2, 3, {{"gate_rate", 0.2}}), 3)};
  quadratic_federation plain{gated_setting("fedavg", {}, 3)};
  for (std::uint64_t i = 1; i <= 2; ++i)
    round_of(testee, i);
  for (std::uint64_t k = 1; k <= 3; ++k) {
    SCOPED_TRACE(k);
    const auto expert = "model." + std::to_string(k - 1);
    const auto in = served(testee, k, 900 + k);
    const auto found = testee.trainer().train(in);
    ASSERT_TRUE(found);
    auto own = plain.visit(k, 900 + k);
    give(plain, own, "model", testee.loop().values(expert).copy());
    const auto alone = plain.trainer().train(own);
    ASSERT_TRUE(alone);
    EXPECT_EQ(*part_of(testee, *found, expert)->delta,
              *part_of(plain, *alone, "model")->delta);
    EXPECT_EQ(found->loss, alone->loss);
    plain_gate gate{.values = fetched(testee, in, "gate"), .experts = 3};
    const auto& rows = testee.task()->clients.train[k - 1];
    for (const auto& batch : batches_of(rows, 6)) {
      reals slope(gate.values.size());
      for (const auto row : batch) {
        const auto seen = seen_of(testee.problem(), split::train, row);
        auto along = models::softmax(gate.logits(seen));
        along[k - 1] -= 1;
        gate.pull_back(seen, along, slope);
      }
      for (std::size_t j = 0; j < slope.size(); ++j)
        gate.values[j] -= 0.2 * slope[j] / static_cast<double>(batch.size());
    }
    expect_offered(testee, in, *found, "gate", gate.values);
  }
}

TEST(gate_rate, of_zero_keeps_the_gate_and_all_requests) {
  quadratic_federation testee{
    gated_setting("ddome", crowd(4, 2, 2, {{"gate_rate", 0}}))};
  const auto gate = testee.loop().values("gate").copy();
  const auto requests = [&] {
    std::vector<models::disclosed> all;
    for (std::uint64_t k = 3; k <= 6; ++k)
      all.push_back(testee.trainer().choose(testee.visit(k, k))->disclosures);
    return all;
  };
  const auto before = requests();
  for (std::uint64_t i = 1; i <= 3; ++i)
    round_of(testee, i);
  EXPECT_EQ(testee.loop().values("gate"), gate);
  EXPECT_EQ(requests(), before);
  EXPECT_EQ(versions_of(testee, "gate"), 4u) << "all offered no change";
}

} // namespace troupe::test::gated_laws_test
