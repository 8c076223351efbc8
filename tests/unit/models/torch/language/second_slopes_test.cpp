// Written-out second slopes of two functions, beside what torch's operators
// say of the same.

#include "models/torch/language/second_slopes.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <string>
#include <vector>

namespace troupe::models {
namespace {

using tensors = std::vector<at::Tensor>;
using function = std::function<at::Tensor(const tensors&)>;

struct twin {
  std::string name;
  std::size_t inputs;
  function ours, operators;
};

const twin twins[] = {
  {"gated_by_silu", 2,
   [](const tensors& x) { return gated_by_silu(x[0], x[1]); },
   [](const tensors& x) { return at::silu(x[1]) * x[0]; }},
  {"softmax_of_last", 1, [](const tensors& x) { return softmax_of_last(x[0]); },
   [](const tensors& x) { return at::softmax(x[0], -1); }},
};

/// More numbers than a block has, no whole number of vectors; and such as do
/// not lie in a row.
tensors drawn(std::size_t count, at::ScalarType type, bool turned) {
  at::manual_seed(7);
  tensors all;
  for (std::size_t i = 0; i < count; ++i) {
    auto x = turned ? at::randn({37, 3, 143}, type).transpose(0, 2)
                    : at::randn({143, 3, 37}, type);
    all.push_back((2 * x).detach().requires_grad_(true));
  }
  return all;
}

struct found {
  at::Tensor value;
  tensors first, second;
};

/// First slopes along a direction, and those of what they are along another.
found slopes_of(const function& f, const tensors& x, bool with_graph) {
  at::manual_seed(11);
  found out;
  out.value = f(x);
  const auto along = at::randn(out.value.sizes(), x[0].options());
  const auto leaf = along.detach().requires_grad_(with_graph);
  out.first =
    torch::autograd::grad({out.value}, x, {leaf}, with_graph, with_graph);
  if (!with_graph)
    return out;
  auto sum = at::zeros({}, x[0].options());
  for (const auto& slope : out.first)
    sum = sum + (slope * at::randn(slope.sizes(), x[0].options())).sum();
  auto all = x;
  all.push_back(leaf);
  out.second = torch::autograd::grad({sum}, all);
  return out;
}

void expect_near(const at::Tensor& x, const at::Tensor& wanted, double bound,
                 const std::string& what) {
  const auto size = wanted.abs().max().item<double>();
  EXPECT_GT(size, 0.01) << what;
  EXPECT_LE((x - wanted).abs().max().item<double>(), bound * size) << what;
}

TEST(second_slopes, are_those_of_operators) {
  for (const auto& f : twins)
    for (const auto type : {at::kFloat, at::kDouble})
      for (const bool turned : {false, true}) {
        const auto x = drawn(f.inputs, type, turned);
        const auto ours = slopes_of(f.ours, x, true);
        const auto wanted = slopes_of(f.operators, x, true);
        const auto bound = type == at::kDouble ? 1e-14 : 1e-6;
        for (std::size_t i = 0; i < wanted.second.size(); ++i)
          expect_near(ours.second[i], wanted.second[i], bound,
                      f.name + ", along " + std::to_string(i));
      }
}

TEST(second_slopes, change_no_bit_of_values_and_first_slopes) {
  for (const auto& f : twins)
    for (const auto type : {at::kFloat, at::kDouble}) {
      const auto x = drawn(f.inputs, type, false);
      const auto ours = slopes_of(f.ours, x, false);
      const auto wanted = slopes_of(f.operators, x, false);
      EXPECT_TRUE(at::equal(ours.value, wanted.value)) << f.name;
      for (std::size_t i = 0; i < f.inputs; ++i)
        EXPECT_TRUE(at::equal(ours.first[i], wanted.first[i])) << f.name << i;
    }
}

TEST(second_slopes, are_there_where_one_slope_alone_is_bent) {
  const auto x = drawn(2, at::kDouble, false);
  for (std::size_t which = 0; which < 2; ++which) {
    const auto bent = [&](const at::Tensor& value) {
      const auto slopes = torch::autograd::grad({value.sum()}, x, {}, {}, true);
      return torch::autograd::grad({slopes[which].sum()}, {x[1]})[0];
    };
    expect_near(bent(twins[0].ours(x)), bent(twins[0].operators(x)), 1e-14,
                std::to_string(which));
  }
}

TEST(second_slopes, have_slopes_in_turn) {
  for (const auto& f : twins) {
    const auto x = drawn(f.inputs, at::kDouble, false);
    const auto third = [&](const function& g) {
      auto sum = g(x).pow(3).sum();
      for (int i = 0; i < 2; ++i) {
        const auto slopes = torch::autograd::grad({sum}, x, {}, true, true);
        sum = at::zeros({}, at::kDouble);
        for (const auto& slope : slopes)
          sum = sum + slope.square().sum();
      }
      return torch::autograd::grad({sum}, x);
    };
    const auto ours = third(f.ours), wanted = third(f.operators);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      expect_near(ours[i], wanted[i], 1e-11, f.name);
  }
}

} // namespace
} // namespace troupe::models
