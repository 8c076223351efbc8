#include "models/torch/linear.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <vector>

namespace troupe::models {

namespace {

using layer = std::function<at::Tensor(const at::Tensor&, const at::Tensor&,
                                       const at::Tensor&)>;

struct gradients {
  at::Tensor result, x, weight, bias;
};

/// What a layer makes of gradients that begin as zeros.
gradients of(const layer& f, std::int64_t rows) {
  // Its own draws: other tests give this thread another generator.
  const auto draws = at::detail::createCPUGenerator(1);
  auto x = torch::randn({rows, 31}, draws).requires_grad_();
  auto weight = torch::randn({17, 31}, draws).requires_grad_();
  auto bias = torch::randn({17}, draws).requires_grad_();
  weight.mutable_grad() = torch::zeros({17, 31});
  bias.mutable_grad() = torch::zeros({17});
  const auto result = f(x, weight, bias);
  at::relu(result).square().sum().backward();
  return {result, x.grad(), weight.grad(), bias.grad()};
}

} // namespace

TEST(linear_layer, has_the_bits_of_torch_in_both_directions) {
  for (const std::int64_t rows : {1, 10, 1000}) {
    const auto theirs = of([](const auto& x, const auto& w,
                              const auto& b) { return at::linear(x, w, b); },
                           rows);
    const auto ours = of(linear_layer, rows);
    EXPECT_TRUE(torch::equal(ours.result, theirs.result)) << rows;
    EXPECT_TRUE(torch::equal(ours.x, theirs.x)) << rows;
    EXPECT_TRUE(torch::equal(ours.weight, theirs.weight)) << rows;
    EXPECT_TRUE(torch::equal(ours.bias, theirs.bias)) << rows;
  }
}

TEST(linear_layer, adds_to_the_gradients_where_they_lie) {
  const auto weight = torch::ones({1, 2}).requires_grad_();
  const auto bias = torch::zeros({1}).requires_grad_();
  const auto of_weight = torch::full({1, 2}, 100.0f);
  const auto of_bias = torch::full({1}, 100.0f);
  weight.mutable_grad() = of_weight;
  bias.mutable_grad() = of_bias;
  const auto x = torch::tensor({{3.0f, 4.0f}});
  linear_layer(x, weight, bias).sum().backward();
  EXPECT_TRUE(torch::equal(of_weight, torch::tensor({{103.0f, 104.0f}})));
  EXPECT_TRUE(torch::equal(of_bias, torch::tensor({101.0f})));
  EXPECT_TRUE(weight.grad().is_same(of_weight));
}

} // namespace troupe::models
