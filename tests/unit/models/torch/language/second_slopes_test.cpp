// Functions with written-out second slopes, beside what torch's operators say
// of the same.

#include "models/torch/language/second_slopes.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "models/torch/language/norms.hpp"
#include "models/torch/language/parts.hpp"
#include "models/torch/language/rotary.hpp"

namespace troupe::models::second_slopes_test {

namespace {

using tensors = std::vector<at::Tensor>;
using function = std::function<at::Tensor(const tensors&)>;

struct twin {
  std::string name;
  std::size_t inputs;
  bool is_to_the_bit; ///< Values and first slopes.
  function ours, operators;
};

/// About one; of norms it is frozen, and so is the next.
at::Tensor weight_of(const at::Tensor& x) {
  return at::linspace(0.5, 1.75, x.size(-1), x.options().requires_grad(false));
}

at::Tensor bias_of(const at::Tensor& x) {
  return weight_of(x).flip(0) - 1;
}

constexpr double epsilon = 0.1;

at::Tensor rms_by_operators(const at::Tensor& x) {
  return x * ((x * x).mean({-1}, true) + epsilon).rsqrt() * weight_of(x);
}

at::Tensor layer_by_operators(const at::Tensor& x) {
  return at::layer_norm(x, {x.size(-1)}, weight_of(x), bias_of(x), epsilon);
}

/// Rows that may lie apart.
at::Tensor rows_of(const at::Tensor& x) {
  return x.dim() == 3 ? x.select(1, 0) : x;
}

at::Tensor targets_of(const at::Tensor& rows) {
  return at::arange(rows.size(0), at::kLong).remainder(rows.size(1));
}

/// Widths are odd: something is behind what is turned.
constexpr std::uint32_t turned_width = 34;

const rope_spec angles{.base = 100, .width = turned_width};

at::Tensor of_angles(const at::Tensor& x, double (*of)(double)) {
  std::vector<double> all;
  for (std::int64_t place = 0; place < x.size(-2); ++place)
    for (const auto rate : turning_rates(angles))
      all.push_back(of(static_cast<double>(place) * rate));
  return at::tensor(all, at::kDouble)
    .reshape({x.size(-2), turned_width / 2})
    .to(x.scalar_type());
}

at::Tensor turned(const tensors& x) {
  const auto heads = x[0].unsqueeze(0);
  return rotary{angles, heads.size(3), heads.size(2)}.turn(heads);
}

at::Tensor turned_by_operators(const tensors& x) {
  constexpr std::int64_t half = turned_width / 2;
  const auto heads = x[0].unsqueeze(0);
  const auto c = of_angles(heads, [](double y) { return std::cos(y); });
  const auto s = of_angles(heads, [](double y) { return std::sin(y); });
  const auto first = heads.narrow(3, 0, half);
  const auto second = heads.narrow(3, half, half);
  return at::cat({first * c - second * s, second * c + first * s,
                  heads.narrow(3, 2 * half, heads.size(3) - 2 * half)},
                 3);
}

const twin of_gates{"gated_by_silu", 2, true,
                    [](const tensors& x) { return gated_by_silu(x[0], x[1]); },
                    [](const tensors& x) { return at::silu(x[1]) * x[0]; }};

const twin of_rms_norms{
  "rms_norm", 1, false,
  [](const tensors& x) { return rms_norm(x[0], weight_of(x[0]), epsilon); },
  [](const tensors& x) { return rms_by_operators(x[0]); }};

const twin of_layer_norms{
  "layer_norm", 1, true,
  [](const tensors& x) {
    return layer_norm(x[0], weight_of(x[0]), bias_of(x[0]), epsilon);
  },
  [](const tensors& x) { return layer_by_operators(x[0]); }};

/// Third slopes of torch's own forget what mean and scale change by.
const function plain_layer_norms = [](const tensors& x) {
  const auto centred = x[0] - x[0].mean({-1}, true);
  return rms_by_operators(centred) + bias_of(centred);
};

/// Of a head whose sides, bias and factors are all of these rows.
open_product head_of(const at::Tensor& x) {
  const auto few = std::min<std::int64_t>(3, x.size(1));
  return {.rows = x.narrow(1, 0, few),
          .weight = x.narrow(0, 0, few).t(),
          .bias = x.select(0, 3),
          .inner = x.narrow(1, x.size(1) - 1, 1),
          .u = x.narrow(0, 4, 1)};
}

at::Tensor loss_by_operators(const open_product& x) {
  const auto logits = x.rows.mm(x.weight.t()) + x.inner.mm(x.u) + x.bias;
  return at::cross_entropy_loss(logits, targets_of(logits), {},
                                at::Reduction::Sum);
}

/// No whole number of them goes through the head at once.
const twin of_losses{
  "cross_entropy", 1, false,
  [](const tensors& x) {
    const auto rows = rows_of(x[0]);
    return summed_cross_entropy(head_of(rows), targets_of(rows),
                                rows.size(0) / 2 - 1);
  },
  [](const tensors& x) { return loss_by_operators(head_of(rows_of(x[0]))); }};

const twin twins[] = {
  of_gates,
  {"softmax_of_last", 1, true,
   [](const tensors& x) { return softmax_of_last(x[0]); },
   [](const tensors& x) { return at::softmax(x[0], -1); }},
  of_rms_norms,
  of_layer_norms,
  of_losses,
  {"turn", 1, true, turned, turned_by_operators},
};

/// Those with a loop for each row.
const twin twins_of_rows[] = {of_rms_norms, of_layer_norms, of_losses};

double bound_of(at::ScalarType type) {
  return type == at::kDouble ? 1e-12 : 1e-5;
}

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
  out.second = torch::autograd::grad({sum}, all, {}, {}, false, true);
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
        for (std::size_t i = 0; i < wanted.second.size(); ++i) {
          ASSERT_EQ(ours.second[i].defined(), wanted.second[i].defined());
          if (wanted.second[i].defined())
            expect_near(ours.second[i], wanted.second[i], bound_of(type),
                        f.name + ", along " + std::to_string(i));
        }
      }
}

TEST(second_slopes, change_no_bit_of_values_and_first_slopes) {
  for (const auto& f : twins)
    for (const auto type : {at::kFloat, at::kDouble}) {
      if (!f.is_to_the_bit)
        continue;
      const auto x = drawn(f.inputs, type, false);
      const auto ours = slopes_of(f.ours, x, false);
      const auto wanted = slopes_of(f.operators, x, false);
      EXPECT_TRUE(at::equal(ours.value, wanted.value)) << f.name;
      for (std::size_t i = 0; i < f.inputs; ++i)
        EXPECT_TRUE(at::equal(ours.first[i], wanted.first[i])) << f.name << i;
    }
}

TEST(second_slopes, are_of_values_and_first_slopes_within_rounding) {
  for (const auto& f : twins)
    for (const auto type : {at::kFloat, at::kDouble})
      for (const bool turned : {false, true}) {
        const auto x = drawn(f.inputs, type, turned);
        const auto ours = slopes_of(f.ours, x, false);
        const auto wanted = slopes_of(f.operators, x, false);
        const auto bound = type == at::kDouble ? 1e-13 : 2e-6;
        expect_near(ours.value, wanted.value, bound, f.name + ", value");
        for (std::size_t i = 0; i < f.inputs; ++i)
          expect_near(ours.first[i], wanted.first[i], bound,
                      f.name + ", first " + std::to_string(i));
      }
}

// Of one value a norm may be a sign alone, and slopes nothing.
TEST(second_slopes, are_of_rows_of_any_width) {
  for (const auto& f : twins_of_rows)
    for (const auto type : {at::kFloat, at::kDouble})
      for (const std::int64_t width : {1, 3, 64, 577, 5000}) {
        const auto where = f.name + " of " + std::to_string(width);
        at::manual_seed(5);
        const tensors x{
          (2 * at::randn({7, width}, type)).detach().requires_grad_(true)};
        const auto ours = slopes_of(f.ours, x, true);
        const auto wanted = slopes_of(f.operators, x, true);
        const auto expect_close = [&](const at::Tensor& found,
                                      const at::Tensor& expected) {
          const auto size = std::max(1., expected.abs().max().item<double>());
          EXPECT_EQ(found.sizes(), expected.sizes()) << where;
          EXPECT_LE((found - expected).abs().max().item<double>(),
                    bound_of(type) * size)
            << where;
        };
        expect_close(ours.value, wanted.value);
        expect_close(ours.first[0], wanted.first[0]);
        for (std::size_t i = 0; i < wanted.second.size(); ++i)
          expect_close(ours.second[i], wanted.second[i]);
      }
}

// What no share is left of has a loss all the same.
TEST(second_slopes, are_of_losses_beyond_what_shares_can_say) {
  const open_product logits{
    .rows = at::ones({1, 1}),
    .weight = at::tensor({0., 300., 300.}, at::kFloat).reshape({3, 1})};
  const auto target = at::zeros({1}, at::kLong);
  EXPECT_NEAR(summed_cross_entropy(logits, target, 1).item<double>(),
              300 + std::log(2.), 1e-4);
}

// A graph that is there twice has the shares of its last rows once.
TEST(second_slopes, of_losses_are_the_same_again) {
  for (const std::int64_t at_once : {1, 4, 7, 9}) {
    const auto x = at::randn({7, 5}, at::kDouble).requires_grad_(true);
    const auto loss = summed_cross_entropy(head_of(x), targets_of(x), at_once);
    const auto slopes = torch::autograd::grad({loss}, {x}, {}, true, true);
    const auto bent = [&] {
      return torch::autograd::grad({slopes[0].square().sum()}, {x}, {}, true);
    };
    const auto first = bent();
    EXPECT_TRUE(at::equal(bent()[0], first[0])) << at_once;
  }
}

TEST(second_slopes, are_there_where_one_slope_alone_is_bent) {
  const auto x = drawn(2, at::kDouble, false);
  for (std::size_t which = 0; which < 2; ++which) {
    const auto bent = [&](const at::Tensor& value) {
      const auto slopes = torch::autograd::grad({value.sum()}, x, {}, {}, true);
      return torch::autograd::grad({slopes[which].sum()}, {x[1]})[0];
    };
    expect_near(bent(of_gates.ours(x)), bent(of_gates.operators(x)), 1e-14,
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
    const auto ours = third(f.ours);
    const auto wanted =
      third(f.name == of_layer_norms.name ? plain_layer_norms : f.operators);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      expect_near(ours[i], wanted[i], 1e-10, f.name);
  }
}

} // namespace

} // namespace troupe::models::second_slopes_test
