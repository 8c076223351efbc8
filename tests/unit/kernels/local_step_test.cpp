// Local SGD and AdamW.

#include <algorithm>

#include "tests/unit/kernels/backend_fixture.hpp"

namespace troupe::kernels::local_step_test {

namespace {

/// All that a step may touch.
struct client {
  floats weights, gradient, first, second, anchor, correction;

  explicit client(std::size_t size)
    : weights(draw(size, 1)),
      gradient(draw(size, 2)),
      first(size),
      second(size),
      anchor(draw(size, 3)),
      correction(draw(size, 4)) {
    // nop
  }

  step_buffers buffers() {
    return {weights, gradient, first, second, anchor, correction};
  }
};

void expect_near(const floats& found, const floats& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t j = 0; j < found.size(); ++j)
    ASSERT_NEAR(found[j], expected[j], 1e-6f * std::abs(expected[j]) + 1e-6f)
      << j;
}

} // namespace

class local_step_test : public backend_test {
protected:
  /// Ten steps beside the reference, from the same state and with the same
  /// gradients each time.
  template <class Step>
  void expect_agreement(Step how, void (*advance)(Step&)) {
    for (std::size_t size : {0, 1, 33, 1025}) {
      client ours{size}, exact{size};
      auto step = how;
      for (std::uint64_t i = 0; i < 10; ++i, advance(step)) {
        ours.gradient = exact.gradient =
          draw(size, derive_seed(5, "gradient", i));
        ASSERT_TRUE(testee->step(step, ours.buffers()));
        ASSERT_TRUE(reference->step(step, exact.buffers()));
        ASSERT_EQ(ours.gradient, floats(size)) << "the gradient becomes zero";
        expect_near(ours.weights, exact.weights);
        expect_near(ours.first, exact.first);
        expect_near(ours.second, exact.second);
      }
    }
  }
};

TEST_P(local_step_test, plain_sgd_by_hand) {
  floats weights{1, 2}, gradient{4, -8};
  ASSERT_TRUE(testee->step(sgd_step{.rate = 0.25f},
                           {.weights = weights, .gradient = gradient}));
  EXPECT_EQ(weights, (floats{0, 4}));
  EXPECT_EQ(gradient, floats(2));
}

TEST_P(local_step_test, every_part_of_sgd_by_hand) {
  // g = 4 + 1/2 * 2 + 2 * (2 - 1) + 3 = 10; m = 1/2 * 6 + 10 = 13; w = 2 - 13.
  floats weights{2}, gradient{4}, momentum{6};
  const floats anchor{1}, correction{3};
  const step_buffers on{.weights = weights,
                        .gradient = gradient,
                        .first_moment = momentum,
                        .anchor = anchor,
                        .correction = correction};
  sgd_step how{
    .rate = 1, .momentum = 0.5f, .decay = 0.5f, .proximal = 2, .first = false};
  ASSERT_TRUE(testee->step(how, on));
  EXPECT_EQ(weights[0], -11);
  EXPECT_EQ(momentum[0], 13);
}

TEST_P(local_step_test, the_first_step_does_not_read_the_momentum) {
  floats weights{1}, gradient{4}, momentum{std::nanf("")};
  ASSERT_TRUE(testee->step(
    sgd_step{.rate = 0.25f, .momentum = 0.5f, .first = true},
    {.weights = weights, .gradient = gradient, .first_moment = momentum}));
  EXPECT_EQ(weights[0], 0);
  EXPECT_EQ(momentum[0], 4);
}

TEST_P(local_step_test, sgd_agrees_with_the_reference) {
  for (float momentum : {0.f, 0.9f})
    for (float decay : {0.f, 0.01f})
      for (float proximal : {0.f, 0.1f})
        expect_agreement<sgd_step>({.rate = 0.05f,
                                    .momentum = momentum,
                                    .decay = decay,
                                    .proximal = proximal},
                                   [](sgd_step& x) { x.first = false; });
}

TEST_P(local_step_test, adamw_agrees_with_the_reference) {
  expect_agreement<adamw_step>({.rate = 0.01f},
                               [](adamw_step& x) { ++x.count; });
}

TEST_P(local_step_test, the_first_step_of_adamw_has_the_length_of_its_rate) {
  // Bias correction makes it rate * g / |g|, and decay pulls by rate * decay *
  // w.
  floats weights{2, 2}, gradient{5, -1e-3f}, first(2), second(2);
  ASSERT_TRUE(testee->step(adamw_step{.rate = 0.1f, .decay = 0.5f},
                           {.weights = weights,
                            .gradient = gradient,
                            .first_moment = first,
                            .second_moment = second}));
  EXPECT_NEAR(weights[0], 2 - 0.1 - 0.1, 1e-6);
  EXPECT_NEAR(weights[1], 2 - 0.1 + 0.1, 2e-6);
}

TEST_P(local_step_test, a_value_does_not_depend_on_its_neighbours) {
  // So no tail is rounded in another way than the body.
  const sgd_step how{
    .momentum = 0.9f, .decay = 0.1f, .proximal = 0.3f, .first = false};
  client whole{4099};
  ASSERT_TRUE(testee->step(how, whole.buffers()));
  client parts{4099};
  const auto all = parts.buffers();
  for (std::size_t at = 0; at < 4099; at += 13) {
    const auto n = std::min<std::size_t>(13, 4099 - at);
    ASSERT_TRUE(testee->step(
      how, {all.weights.part(at, n), all.gradient.part(at, n),
            all.first_moment.part(at, n), all.second_moment.part(at, n),
            all.anchor.part(at, n), all.correction.part(at, n)}));
  }
  EXPECT_EQ(parts.weights, whole.weights);
  EXPECT_EQ(parts.first, whole.first);
}

TEST_P(local_step_test, has_the_bits_of_the_cpu) {
  if (!has_bits_of_cpu())
    GTEST_SKIP() << "the reference has more digits";
  client ours{1025}, theirs{1025};
  const auto both = [&](const auto& how) {
    ours.gradient = theirs.gradient = draw(1025, 6);
    ASSERT_TRUE(testee->step(how, ours.buffers()));
    ASSERT_TRUE(cpu->step(how, theirs.buffers()));
    ASSERT_EQ(ours.weights, theirs.weights);
    ASSERT_EQ(ours.first, theirs.first);
    ASSERT_EQ(ours.second, theirs.second);
  };
  both(sgd_step{});
  for (bool first : {true, false})
    both(sgd_step{
      .momentum = 0.9f, .decay = 0.1f, .proximal = 0.3f, .first = first});
  for (std::uint64_t count : {1, 2})
    both(adamw_step{.count = count});
}

TEST_P(local_step_test, refuses_buffers_of_another_size_and_writes_nothing) {
  const auto refusal = [&](const auto& how, step_buffers on) {
    const auto answer = testee->step(how, on);
    return answer ? "accepted" : answer.error().context;
  };
  client c{2};
  const auto before = c.weights;
  const floats one(1);
  auto on = c.buffers();
  on.gradient = on.gradient.part(0, 1);
  EXPECT_EQ(refusal(sgd_step{}, on),
            "the gradient has 1 values, the weights have 2");
  on = c.buffers();
  on.first_moment = {};
  EXPECT_EQ(refusal(sgd_step{.momentum = 0.9f}, on),
            "the momentum has 0 values, the weights have 2");
  on = c.buffers();
  on.anchor = {};
  EXPECT_EQ(refusal(sgd_step{.proximal = 0.9f}, on),
            "the anchor has 0 values, the weights have 2");
  on = c.buffers();
  on.correction = one;
  EXPECT_EQ(refusal(sgd_step{}, on),
            "the correction has 1 values, the weights have 2");
  on = c.buffers();
  on.second_moment = {};
  EXPECT_EQ(refusal(adamw_step{}, on),
            "the second moment has 0 values, the weights have 2");
  EXPECT_EQ(refusal(adamw_step{.count = 0}, c.buffers()),
            "steps of AdamW count from 1, found 0");
  EXPECT_EQ(c.weights, before);
}

TROUPE_FOR_ALL_BACKENDS(local_step_test);

} // namespace troupe::kernels::local_step_test
