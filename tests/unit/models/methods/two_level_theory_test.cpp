// The publication's convergence theory, on its own ground: a strongly convex
// lower level, one client and no noise. The step is production's, on
//
//   f(x, y) = x^2 / 2 + x y / 2 + y^2 / 4,
//
// where y*(x) = -x, the outer objective is x^2 / 4, and x0 = y0 = 1.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/aligned.hpp"
#include "tests/support/adapter_site.hpp"

namespace troupe::test::two_level_theory_test {

namespace {

/// A quadratic form of w = (x, y).
class saddle_free_form final : public models::objective {
public:
  const models::tensor_list& parameter_list() const noexcept override {
    return parts_;
  }
  const models::tensor_list& buffer_list() const noexcept override {
    return none_;
  }
  std::span<float> parameters() noexcept override {
    return w_;
  }
  std::span<float> gradient() noexcept override {
    return slopes_;
  }
  std::span<float> buffers() noexcept override {
    return {};
  }

  result<double> backward(std::span<const std::uint32_t>,
                          std::uint64_t) override {
    add_product(w_);
    const auto x = static_cast<double>(w_[0]), y = static_cast<double>(w_[1]);
    return x * x / 2 + x * y / 2 + y * y / 4;
  }

  result<void> curve(std::span<const std::uint32_t>, std::uint64_t,
                     std::span<const float> direction) override {
    add_product(direction);
    return {};
  }

  result<models::scores> evaluate(models::split,
                                  std::span<const std::uint32_t>) override {
    return models::scores{};
  }
  std::vector<float> initial_parameters(std::uint64_t) override {
    return {0, 0};
  }
  std::vector<float> initial_buffers() override {
    return {};
  }

private:
  void add_product(std::span<const float> v) {
    slopes_[0] += v[0] + 0.5f * v[1];
    slopes_[1] += 0.5f * v[0] + 0.5f * v[1];
  }

  models::tensor_list parts_ = {{"x", {1}}, {"y", {1}}};
  models::tensor_list none_ = {};
  models::aligned_floats w_ = models::aligned_floats(2);
  models::aligned_floats slopes_ = models::aligned_floats(2);
};

constexpr double mu = 0.5;
const double smoothness =
  (1.5 + std::sqrt(1.25)) / 2; // The largest eigenvalue.
const double inner_rate = 1 / (4 * smoothness);

/// Theorem 7.2's.
double outer_rate() {
  const auto kappa = smoothness / mu;
  const auto of_outer = smoothness + smoothness * kappa;
  const auto n =
    25 * std::pow(smoothness, 4) * (4 * kappa + 1) / (16 * mu * mu);
  return std::min(
    {mu * mu
       / (5 * std::pow(smoothness, 3) * std::sqrt(4 * kappa - 1 / (4 * kappa))),
     1 / (8 * of_outer), std::sqrt(1 / (16 * n)),
     std::cbrt(1 / (81 * n * of_outer))});
}

/// One part of w alone.
models::adapter_plan part(const char* name, std::size_t at) {
  models::adapter_plan plan;
  plan.tensors = {{name, {1}}};
  plan.vectors = {{.at = at, .size = 1, .in_adapter = 0}};
  plan.model_size = 2;
  return plan;
}

adapter_site toy_site() {
  models::training_options how;
  how.local_steps = 1;
  how.batch_size = 0;
  how.learning_rate = outer_rate();
  return adapter_site{{.how = how,
                       .said = {{"inner_rate", inner_rate}},
                       .model = std::make_unique<saddle_free_form>(),
                       .clients = {.train = {{0}}, .test = {{0}}},
                       .common = part("x", 0),
                       .own = part("y", 1)}};
}

} // namespace

// Specification, 8.5.
TEST(two_level_theory, holds_for_each_step_and_for_their_sum) {
  const auto site = toy_site();
  EXPECT_NEAR(outer_rate(), 0.0069199934, 1e-10);
  const auto shrinks = std::sqrt(1 - inner_rate * mu);
  const auto bias = smoothness * (inner_rate * smoothness + 1) * shrinks;
  float x = 1;
  auto state = keeping({1});
  double sum = 0, sum_of_thousand = 0;
  for (int t = 0; t < 10'000; ++t) {
    const auto out = site.trainer->train(site.visit({x}, state));
    ASSERT_TRUE(out) << out.error().context;
    const double old_x = x,
                 old_y = state->blocks.at("own_adapter").own_view()[0];
    const double new_y = out->next.blocks.at("own_adapter").own_view()[0];
    const auto far = std::abs(old_y + old_x); // From y* = -x.
    constexpr double rounding = 1e-6;
    // Lemma I.1.
    ASSERT_LE(std::abs(new_y + old_x), shrinks * far * (1 + rounding)) << t;
    // Lemma I.5; the derivative of x^2 / 4 is x / 2.
    const double delta = out->parts.at(0).delta->front();
    const auto error = -delta / outer_rate() - old_x / 2;
    ASSERT_LE(std::abs(error), bias * far + rounding * std::abs(old_x)) << t;
    if (t == 0) {
      EXPECT_NEAR(error, 0.5 * std::pow(1 - inner_rate * mu, 2) * far, 2e-5);
    }
    sum += old_x * old_x / 4;
    if (t + 1 == 1000)
      sum_of_thousand = sum;
    x += static_cast<float>(delta);
    state = std::make_shared<const models::client_state>(out->next);
  }
  EXPECT_NEAR(sum_of_thousand, 33.159584, 1e-3);
  EXPECT_NEAR(sum, 33.199096, 1e-3) << "T times the average stays bounded";
}

} // namespace troupe::test::two_level_theory_test
