// What torch makes of networks when it differentiates them, once and twice,
// held against differences in double.

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <memory>
#include <vector>

#include "tests/support/tiny_language.hpp"

namespace troupe::models::slopes_test {

namespace {

using tensor_values = std::vector<at::Tensor>;

/// Without a meaning, of the shapes of these.
tensor_values directions(const tensor_values& like, std::uint32_t phase) {
  tensor_values result;
  for (const auto& x : like) {
    auto values = at::empty(x.sizes(), at::kDouble);
    auto* to = values.data_ptr<double>();
    for (std::int64_t i = 0; i < values.numel(); ++i)
      to[i] = test::value_by_rule(phase, static_cast<std::uint32_t>(i));
    result.push_back(values);
    ++phase;
  }
  return result;
}

tensor_values moved(const tensor_values& from, const tensor_values& along,
                    double step) {
  tensor_values result;
  for (std::size_t i = 0; i < from.size(); ++i)
    result.push_back((from[i].detach() + along[i] * step).requires_grad_());
  return result;
}

/// Sums of products; what is not defined is zero.
at::Tensor product(const tensor_values& x, const tensor_values& y) {
  auto result = at::zeros({}, at::kDouble);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i].defined())
      result = result + (x[i] * y[i]).sum();
  return result;
}

/// A sum of what a network says, each logit with a weight of its own.
class weighed {
public:
  explicit weighed(const language_spec& x)
    : network_(make_language_network(x)) {
    there_ = at::ones({2, 6}, at::kBool);
    there_.select(0, 1).narrow(0, 4, 2).fill_(false);
  }

  at::Tensor operator()(const tensor_values& weights) const {
    const auto of = parts_of(weights);
    const auto said = test::said_of(
      *network_, *of, {.ids = test::ids_by_rule(2, 6, 13), .there = there_});
    const auto part = at::arange(said.numel(), at::kDouble).sin();
    const auto counts = there_.to(at::kDouble).unsqueeze(2);
    return (said * part.reshape(said.sizes()) * counts).sum();
  }

  /// @param again whether what comes is to be differentiated in turn
  tensor_values slopes(const tensor_values& weights, bool again) const {
    return torch::autograd::grad({(*this)(weights)}, weights, {}, again, again,
                                 true);
  }

private:
  std::unique_ptr<language_network> network_;
  at::Tensor there_;
};

} // namespace

TEST(slopes_of_networks, are_what_differences_say) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const auto spec = test::tiny_spec(config);
    const weighed of{spec};
    const auto begin = test::tensors_by_rule(spec, at::kDouble);
    const auto along = directions(begin, 1000);
    const auto slope =
      product(of.slopes(moved(begin, along, 0), false), along).item<double>();
    constexpr double step = 1e-6;
    const auto above = of(moved(begin, along, step)).item<double>();
    const auto below = of(moved(begin, along, -step)).item<double>();
    const auto expected = (above - below) / (2 * step);
    EXPECT_GT(std::abs(expected), 1e-3);
    EXPECT_NEAR(slope, expected, 1e-6 * (1 + std::abs(expected)));
  }
}

TEST(slopes_of_networks, have_slopes_that_are_what_differences_say) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const auto spec = test::tiny_spec(config);
    const weighed of{spec};
    const auto begin = test::tensors_by_rule(spec, at::kDouble);
    const auto first = directions(begin, 1000);
    const auto second = directions(begin, 2000);
    const auto weights = moved(begin, second, 0);
    const auto slope = product(of.slopes(weights, true), first);
    const auto bent = product(
      torch::autograd::grad({slope}, weights, {}, false, false, true), second);
    constexpr double step = 1e-6;
    const auto slope_at = [&](double x) {
      return product(of.slopes(moved(begin, second, x), false), first)
        .item<double>();
    };
    const auto expected = (slope_at(step) - slope_at(-step)) / (2 * step);
    EXPECT_GT(std::abs(expected), 1e-3);
    EXPECT_NEAR(bent.item<double>(), expected, 1e-5 * (1 + std::abs(expected)));
  }
}

} // namespace troupe::models::slopes_test
