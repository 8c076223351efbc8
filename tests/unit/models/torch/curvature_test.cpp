// What torch's second pass adds, held against differences of its first.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "models/torch/objective.hpp"
#include "tests/support/small_data.hpp"

namespace troupe::models {

TEST(torch_curvature, is_what_the_gradient_changes_by) {
  const auto data =
    test::small_dataset({.shape = {1, 8, 8}, .classes = 3, .size = 12});
  for (const auto kind : {model_kind::softmax, model_kind::mlp}) {
    model_config config;
    config.kind = kind;
    config.hidden = {6};
    auto made = make_torch_objective(config, data);
    ASSERT_TRUE(made) << made.error().context;
    auto& model = **made;
    const std::vector<std::uint32_t> rows{0, 3, 5, 7};
    const auto at = model.initial_parameters(7);
    random_stream random{3};
    std::vector<float> direction(at.size());
    for (auto& x : direction)
      x = static_cast<float>(random.normal());
    const auto gradient_at = [&](float step) {
      for (std::size_t j = 0; j < at.size(); ++j)
        model.parameters()[j] = at[j] + step * direction[j];
      std::ranges::fill(model.gradient(), 0.f);
      EXPECT_TRUE(model.backward(rows, 1));
      return std::vector<float>(model.gradient().begin(),
                                model.gradient().end());
    };
    constexpr float step = 1.f / 1024;
    const auto above = gradient_at(step), below = gradient_at(-step);
    gradient_at(0);
    std::ranges::fill(model.gradient(), 1.f); // It is added to what is there.
    ASSERT_TRUE(model.curve(rows, 1, direction));
    double error = 0, length = 0;
    for (std::size_t j = 0; j < at.size(); ++j) {
      const auto expected =
        static_cast<double>((above[j] - below[j]) / (2 * step));
      error += std::pow(model.gradient()[j] - 1 - expected, 2);
      length += expected * expected;
    }
    EXPECT_GT(length, 0.01);
    EXPECT_LT(error, 1e-3 * length);
    // Another backward pass finds everything as it was.
    EXPECT_TRUE(model.backward(rows, 1));
  }
}

} // namespace troupe::models
