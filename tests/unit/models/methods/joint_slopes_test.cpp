// What a joint step of a gate and experts learns: the slopes of its loss,
// against differences of it in double, and a step by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/moving_statistics.hpp"
#include "tests/support/plain_gate.hpp"

namespace troupe::test {

namespace {

using models::split;

struct joint_case {
  bool logits;
  bool renormalised;
  bool chances;
};

/// What a joint step descends, in double.
struct joint_loss {
  const quadratic_federation& on;
  const std::vector<std::uint32_t>& rows;
  joint_case how;

  double of_row(std::uint32_t row, const reals& z) const {
    if (!how.logits)
      return loss_at(on.problem(), row, z);
    return -std::log(chances(z)[row % width]);
  }

  double operator()(const plain_gate& gate,
                    const std::map<std::uint32_t, reals>& experts) const {
    double loss = 0;
    for (const auto row : rows) {
      const auto all =
        chances(gate.logits(seen_of(on.problem(), split::train, row)));
      double mass = 0;
      for (const auto& [m, w] : experts)
        mass += how.renormalised ? all[m] : 0;
      reals z(width);
      double right = 0;
      for (const auto& [m, w] : experts) {
        const auto weight = how.renormalised ? all[m] / mass : all[m];
        for (std::size_t j = 0; j < width; ++j)
          z[j] += weight * w[j];
        right += weight * std::exp(-of_row(row, w));
      }
      loss += (how.chances ? -std::log(right) : of_row(row, z)) / 10;
    }
    return loss;
  }
};

/// Of a function of one value, at that.
double difference(double& x, const std::function<double()>& f) {
  constexpr double step = 1e-5;
  const auto at = x;
  x = at + step;
  const auto above = f();
  x = at - step;
  const auto below = f();
  x = at;
  return (above - below) / (2 * step);
}

void expect_slopes(joint_case is) {
  auto how = one_step(gated_setting(
    "ddome",
    crowd(4, 2, 0, {{"renormalise", is.renormalised}, {"mix", is.chances}})));
  if (is.logits)
    how.make_model = with_logits;
  quadratic_federation testee{how};
  const auto in = served(testee, 3, 11);
  const auto found = testee.trainer().train(in);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->parts.size(), 3u) << "nothing of who was not chosen";
  EXPECT_TRUE(found->disclosures.empty()) << "who was asked was said before";
  auto gate = gate_of(testee, in);
  std::map<std::uint32_t, reals> experts;
  for (const auto m : instances_of(testee, in.chosen))
    experts[m] = fetched(testee, in, "model." + std::to_string(m));
  const joint_loss loss{testee, rows_of(testee, 3), is};
  const auto value = [&] { return loss(gate, experts); };
  EXPECT_NEAR(found->loss, value(), 1e-6);
  const auto near = [](double slope, double expected) {
    EXPECT_NEAR(slope, expected, 1e-6 * std::max(1.0, std::abs(expected)));
  };
  const auto& delta = *part_of(testee, *found, "gate")->delta;
  for (std::size_t i = 0; i < gate.values.size(); ++i)
    near(-delta[i], difference(gate.values[i], value));
  for (auto& [m, w] : experts) {
    const auto* part = part_of(testee, *found, "model." + std::to_string(m));
    ASSERT_NE(part, nullptr);
    for (std::size_t j = 0; j < width; ++j)
      near(-(*part->delta)[j], difference(w[j], value));
  }
  for (std::uint32_t m = 0; m < 4; ++m)
    if (!experts.contains(m)) {
      EXPECT_EQ(delta[gate.output_bias_at() + m] == 0, is.renormalised)
        << "a softmax over all has a slope along who was not chosen, and over "
           "the chosen exactly none";
    }
}

} // namespace

TEST(jointly, has_the_slopes_of_its_loss) {
  for (const bool renormalised : {false, true}) {
    SCOPED_TRACE(renormalised);
    expect_slopes(
      {.logits = false, .renormalised = renormalised, .chances = false});
    expect_slopes(
      {.logits = true, .renormalised = renormalised, .chances = false});
    expect_slopes(
      {.logits = true, .renormalised = renormalised, .chances = true});
  }
}

namespace {

/// One row of class 0, gate logits (0, ln 2, ln 3), the last two experts chosen
/// with (1, 0) and (0, 2), or what is said.
struct golden {
  explicit golden(options said, floats first = {1, 0}, floats second = {0, 2})
    : on(setting(std::move(said))),
      in(on.visit(1, 1)) {
    const auto size = fetched(on, in, "gate").size();
    floats gate(size);
    gate[size - 2] = static_cast<float>(std::log(2));
    gate[size - 1] = static_cast<float>(std::log(3));
    give(on, in, "gate", gate);
    give(on, in, "model.1", std::move(first));
    give(on, in, "model.2", std::move(second));
    const auto experts = on.blocks().family("model");
    in.chosen = {experts[2], experts[1]};
    found = on.trainer().train(in).value();
  }

  static quadratic_setting setting(options said) {
    auto x = one_step(gated_setting("ddome", crowd(3, 2, 0, said), 1));
    x.problem.dimension = 2;
    x.problem.rows_per_client = 1;
    x.make_model = with_logits;
    return x;
  }

  void expect(double loss, const reals& gate, const reals& first,
              const reals& second) const {
    EXPECT_NEAR(found.loss, loss, 1e-6);
    const auto& of_gate = *part_of(on, found, "gate")->delta;
    for (std::size_t m = 0; m < 3; ++m)
      EXPECT_NEAR(-of_gate[of_gate.size() - 3 + m], gate[m], 1e-6);
    const auto slopes_are = [&](const char* name, const reals& expected) {
      const auto& delta = *part_of(on, found, name)->delta;
      for (std::size_t j = 0; j < 2; ++j)
        EXPECT_NEAR(-delta[j], expected[j], 1e-6);
    };
    slopes_are("model.1", first);
    slopes_are("model.2", second);
    EXPECT_EQ(part_of(on, found, "model.0"), nullptr);
  }

  quadratic_federation on;
  models::visit_input in;
  models::trained found;
};

} // namespace

TEST(jointly, makes_the_golden_step) {
  golden{options{}}.expect(1.081037, {-0.073417, -0.367087, 0.440504},
                           {-0.220252, 0.220252}, {-0.330378, 0.330378});
  const golden renormalised{options{{"renormalise", 1}}};
  renormalised.expect(1.171101, {0, -0.496782, 0.496782}, {-0.275990, 0.275990},
                      {-0.413985, 0.413985});
  const auto& of_gate =
    *part_of(renormalised.on, renormalised.found, "gate")->delta;
  EXPECT_EQ(of_gate[of_gate.size() - 3], 0) << "exactly";
  const golden mixed{options{{"mix", 1}}};
  EXPECT_NEAR(mixed.found.loss, 1.193074, 1e-6);
}

// Together the chances are 2.9e-09, and then below 1e-9.
TEST(jointly, learns_nothing_of_a_row_whose_chance_is_too_small) {
  const golden small{options{{"mix", 1}}, {0, 19}, {0, 20}};
  small.expect(19.659184, {0.166667, -0.311072, 0.144405},
               {-0.644405, 0.644405}, {-0.355595, 0.355595});
  const golden smaller{options{{"mix", 1}}, {0, 40}, {0, 41}};
  smaller.expect(20.723266, {0, 0, 0}, {0, 0}, {0, 0});
}

namespace {

/// Whose statistics move when it speaks, too, and show in what it says.
class talking_statistics final : public moving_statistics {
public:
  using moving_statistics::moving_statistics;

  result<models::utterance> speak(std::span<const std::uint32_t> rows,
                                  std::uint64_t seed) override {
    return quadratic::speak(rows, seed).map([&](models::utterance x) {
      for (auto& said : x.values)
        said += 0.01f * buffers()[0];
      buffers()[0] *= 0.5f;
      buffers()[1] += 0.25f;
      return x;
    });
  }
};

} // namespace

TEST(jointly, each_expert_has_statistics_of_its_own) {
  auto how = gated_setting("ddome", crowd(3, 2, 1));
  how.families["model.buffers"] = {1, 1};
  how.make_model = [](auto problem) -> std::unique_ptr<models::objective> {
    return std::make_unique<talking_statistics>(problem);
  };
  quadratic_federation testee{how};
  // Two epochs of three batches of ten rows.
  const auto common = served(testee, 4, 5);
  auto other = common;
  const auto chosen = instances_of(testee, common.chosen);
  const auto name = [](std::uint32_t m) {
    return "model.buffers." + std::to_string(m);
  };
  give(testee, other, name(*chosen.begin()), {8, 3});
  for (const auto& in : {common, other}) {
    const auto found = testee.trainer().train(in);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(found->parts.size(), 5u);
    for (const auto m : chosen) {
      const auto base = fetched(testee, in, name(m));
      const auto& delta = *part_of(testee, *found, name(m))->delta;
      EXPECT_NEAR(base[0] + delta[0], base[0] / 64, 1e-6);
      EXPECT_NEAR(delta[1], 6 * 0.25, 1e-6);
    }
  }
  const auto anchor = testee.trainer().train(served(testee, 1, 5));
  ASSERT_TRUE(anchor) << anchor.error().context;
  EXPECT_NEAR((*part_of(testee, *anchor, name(0))->delta)[1], 6 * 0.25, 1e-6);
}

} // namespace troupe::test
