// What visits do to values beside their steps, and steps that are made
// together.

#include "tests/unit/kernels/backend_fixture.hpp"

namespace troupe::kernels {

class visit_values_test : public backend_test {};

TEST_P(visit_values_test, move_rounds_the_product_and_then_the_sum) {
  for (const auto size : odd_sizes) {
    const auto from = draw(size, 1), along = draw(size, 2);
    floats to(size), exact(size), own = from;
    ASSERT_TRUE(testee->move(from, -0.3f, along, to));
    ASSERT_TRUE(cpu->move(from, -0.3f, along, exact));
    for (std::size_t j = 0; j < size; ++j) {
      const volatile float product = -0.3f * along[j];
      const float twice = from[j] + product;
      if (has_bits_of_cpu()) {
        ASSERT_EQ(to[j], twice) << size << ' ' << j;
      } else {
        ASSERT_NEAR(to[j], twice, 1e-6f * std::abs(twice) + 1e-7f);
      }
    }
    ASSERT_TRUE(testee->move(own, -0.3f, along, own));
    EXPECT_EQ(own, to) << "what is written may be what is read";
    ASSERT_TRUE(testee->copy(to, own));
    EXPECT_EQ(own, to);
  }
}

TEST_P(visit_values_test, a_mean_slope_is_double_and_rounded_once) {
  for (const auto size : odd_sizes) {
    const auto from = draw(size, 1), to = draw(size, 2), less = draw(size, 3);
    floats out(size);
    ASSERT_TRUE(testee->mean_slope(from, to, 0.7, less, out));
    for (std::size_t j = 0; j < size; ++j) {
      const auto expected = static_cast<float>(
        (double{from[j]} - double{to[j]}) / 0.7 - double{less[j]});
      if (has_bits_of_cpu()) {
        ASSERT_EQ(out[j], expected) << size << ' ' << j;
      } else {
        ASSERT_FLOAT_EQ(out[j], expected);
      }
    }
  }
}

TEST_P(visit_values_test, steps_together_are_the_steps_of_each_alone) {
  constexpr std::size_t size = 1025;
  for (const std::uint64_t count : {1, 2, 7}) {
    std::vector<floats> weights, gradients, alone, slopes;
    std::vector<sgd_call> calls;
    for (std::uint64_t i = 0; i < count; ++i) {
      weights.push_back(draw(size, i));
      gradients.push_back(draw(size, 100 + i));
    }
    alone = weights;
    slopes = gradients;
    for (std::uint64_t i = 0; i < count; ++i) {
      const sgd_step how{.rate = 0.1f * static_cast<float>(i + 1)};
      calls.push_back({how, {.weights = weights[i], .gradient = gradients[i]}});
      ASSERT_TRUE(
        testee->step(how, {.weights = alone[i], .gradient = slopes[i]}));
    }
    ASSERT_TRUE(testee->step(calls));
    EXPECT_EQ(weights, alone);
    EXPECT_EQ(gradients, slopes);
  }
}

TEST_P(visit_values_test, none_is_made_where_one_does_not_fit) {
  floats weights(3, 1.f), gradient(3, 1.f), few(2);
  const sgd_call calls[] = {{{}, {.weights = weights, .gradient = gradient}},
                            {{}, {.weights = weights, .gradient = few}}};
  EXPECT_FALSE(testee->step(calls));
  EXPECT_EQ(weights, floats(3, 1.f));
  EXPECT_FALSE(testee->move(weights, 1, few, gradient));
  EXPECT_FALSE(testee->mean_slope(weights, few, 1, weights, gradient));
  EXPECT_FALSE(testee->copy(weights, few));
  EXPECT_EQ(gradient, floats(3, 1.f));
}

TEST(handles, are_cut_and_passed_on) {
  floats values{1, 2, 3};
  const array all = values;
  EXPECT_EQ(all.part(1, 2).size(), 2u);
  EXPECT_EQ(const_array{all}.part(2, 1).host()[0], 3);
  EXPECT_DEATH(all.part(2, 2), "");
}

TROUPE_FOR_ALL_BACKENDS(visit_values_test);

} // namespace troupe::kernels
