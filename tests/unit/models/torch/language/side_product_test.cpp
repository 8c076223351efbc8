// Products of low rank beside a layer's, as torch differentiates them: by a
// backend, and by its own operators.

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/torch/frozen_parts.hpp"
#include "tests/support/passing_backend.hpp"
#include "tests/support/small_adapters.hpp"
#include "tests/support/tiny_language.hpp"

namespace troupe::models::side_product_test {

namespace {

using tensors = std::vector<at::Tensor>;
using test::apart;

/// Values without a meaning.
at::Tensor by_rule(std::uint32_t phase, std::vector<std::int64_t> shape,
                   at::ScalarType type) {
  auto result = at::empty(shape, at::kDouble);
  auto* to = result.data_ptr<double>();
  for (std::int64_t i = 0; i < result.numel(); ++i)
    to[i] = test::value_by_rule(phase, static_cast<std::uint32_t>(i));
  return result.to(type);
}

enum class weighing { none, per_term, per_row };

constexpr weighing all_ways[] = {weighing::none, weighing::per_term,
                                 weighing::per_row};

/// y, x, u, v and weights, if any: 5 rows, 7 inputs, 6 outputs, ranks 3 + 2.
tensors operands(weighing how, at::ScalarType type) {
  tensors all{by_rule(1, {5, 6}, type), by_rule(2, {5, 7}, type),
              by_rule(3, {5, 6}, type), by_rule(4, {5, 7}, type)};
  if (how == weighing::per_term)
    all.push_back(by_rule(5, {2}, type));
  if (how == weighing::per_row)
    all.push_back(by_rule(5, {5, 2}, type));
  for (auto& x : all)
    x.requires_grad_();
  return all;
}

at::Tensor result_of(const tensors& x, kernels::backend* by) {
  return with_side_terms(x[0], x[1], x[2], x[3],
                         x.size() > 4 ? x[4] : at::Tensor{}, {3, 2}, 0.75, by);
}

/// A number whose slopes are no constants.
at::Tensor weighed(const tensors& x, kernels::backend* by) {
  const auto y = result_of(x, by);
  return (y * y * by_rule(9, {5, 6}, y.scalar_type())).sum();
}

tensors slopes_of(const tensors& x, kernels::backend* by, bool again) {
  return torch::autograd::grad({weighed(x, by)}, x, {}, again, again);
}

/// Sums of products.
at::Tensor product(const tensors& x, const tensors& y) {
  auto sum = at::zeros({}, x[0].options());
  for (std::size_t i = 0; i < x.size(); ++i)
    sum = sum + (x[i] * y[i]).sum();
  return sum;
}

tensors directions(const tensors& like, std::uint32_t phase) {
  tensors all;
  for (const auto& x : like)
    all.push_back(by_rule(phase++, x.sizes().vec(), x.scalar_type()));
  return all;
}

tensors moved(const tensors& from, const tensors& along, double step) {
  tensors all;
  for (std::size_t i = 0; i < from.size(); ++i)
    all.push_back((from[i].detach() + along[i] * step).requires_grad_());
  return all;
}

/// What slopes change by along a direction.
tensors bent(const tensors& x, kernels::backend* by) {
  const auto slope = product(slopes_of(x, by, true), directions(x, 20));
  return torch::autograd::grad({slope}, x);
}

void expect_near(const tensors& found, const tensors& expected, double by) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].sizes(), expected[i].sizes()) << i;
    EXPECT_LT(apart(found[i], expected[i]), by) << i;
  }
}

/// Counts what is asked of it.
class counting final : public test::passing_backend {
public:
  result<void> side_forward(const kernels::side_terms& of,
                            std::span<const float> rows, std::span<float> inner,
                            std::span<float> y) override {
    ++forwards;
    return passing_backend::side_forward(of, rows, inner, y);
  }

  result<void> side_backward(const kernels::side_terms& of,
                             std::span<const float> rows,
                             std::span<const float> inner,
                             std::span<const float> along_y,
                             kernels::side_slopes out) override {
    ++backwards;
    wanted = out;
    return passing_backend::side_backward(of, rows, inner, along_y, out);
  }

  int forwards = 0;
  int backwards = 0;
  kernels::side_slopes wanted; ///< Of the last call; only sizes mean anything.
};

/// What torch is heard for, and how often it was called.
struct heard_operator {
  std::string_view name;
  int calls = 0;
};

thread_local heard_operator* heard = nullptr;

/// How often an operator is called by f(), in this thread.
template <class Function>
int calls_of(std::string_view name, Function f) {
  heard_operator now{.name = name};
  heard = &now;
  const auto hearing = at::addThreadLocalCallback(at::RecordFunctionCallback{
    [](const at::RecordFunction& x) -> std::unique_ptr<at::ObserverContext> {
      if (heard != nullptr && heard->name == x.name())
        ++heard->calls;
      return nullptr;
    }});
  f();
  at::removeCallback(hearing);
  heard = nullptr;
  return now.calls;
}

} // namespace

TEST(side_product, is_what_a_hand_computes) {
  const auto row = [](std::vector<double> xs) {
    return at::tensor(xs, at::kFloat).unsqueeze(0);
  };
  const auto backend = cpu();
  for (auto* by : {backend.get(), static_cast<kernels::backend*>(nullptr)}) {
    // 10 + 2 (3 (1 + 2) (1, 0) + 5 (2) (0, 1)).
    const auto y =
      with_side_terms(row({10, 10}), row({1, 2}), at::eye(2),
                      at::cat({row({1, 1}), row({0, 1})}),
                      at::tensor({3., 5.}, at::kFloat), {1, 1}, 2, by);
    EXPECT_EQ(apart(y, row({28, 30})), 0);
  }
}

TEST(side_product, is_the_same_by_a_backend_and_by_operators) {
  const auto backend = cpu();
  for (const auto how : all_ways) {
    const auto x = operands(how, at::kFloat);
    EXPECT_LT(apart(result_of(x, backend.get()), result_of(x, nullptr)), 1e-6);
    expect_near(slopes_of(x, backend.get(), false),
                slopes_of(x, nullptr, false), 1e-5);
    expect_near(bent(x, backend.get()), bent(x, nullptr), 1e-4);
  }
}

TEST(side_product, has_the_slopes_that_differences_say) {
  for (const auto how : all_ways) {
    const auto begin = operands(how, at::kDouble);
    const auto along = directions(begin, 40);
    constexpr double step = 1e-6;
    const auto above = moved(begin, along, step);
    const auto below = moved(begin, along, -step);
    const auto slope =
      (weighed(above, nullptr) - weighed(below, nullptr)).item<double>()
      / (2 * step);
    EXPECT_NEAR(product(slopes_of(begin, nullptr, false), along).item<double>(),
                slope, 1e-7 * (1 + std::abs(slope)));
    const auto first = directions(begin, 20);
    const auto bend = (product(slopes_of(above, nullptr, false), first)
                       - product(slopes_of(below, nullptr, false), first))
                        .item<double>()
                      / (2 * step);
    EXPECT_NEAR(product(bent(begin, nullptr), along).item<double>(), bend,
                1e-6 * (1 + std::abs(bend)));
  }
}

TEST(side_product, asks_for_the_slopes_that_somebody_wants) {
  counting by;
  auto x = operands(weighing::per_term, at::kFloat);
  for (const std::size_t i : {0u, 1u, 4u})
    x[i] = x[i].detach();
  weighed(x, &by).backward();
  EXPECT_EQ(by.forwards, 1);
  EXPECT_EQ(by.backwards, 1);
  EXPECT_EQ(by.wanted.u.size(), 30u);
  EXPECT_EQ(by.wanted.v.size(), 35u);
  EXPECT_TRUE(by.wanted.rows.empty());
  EXPECT_TRUE(by.wanted.weights.empty());
  EXPECT_FALSE(x[1].grad().defined());
}

// The operator that adds up slopes along weights, and no other.
TEST(side_product, adds_up_no_slopes_of_weights_where_nobody_wants_them) {
  const auto backend = cpu();
  for (const auto how : all_ways) {
    const auto x = operands(how, at::kFloat);
    const auto calls =
      calls_of("aten::index_add", [&] { slopes_of(x, backend.get(), true); });
    EXPECT_EQ(calls > 0, how != weighing::none);
  }
}

TEST(side_product, of_what_nobody_trains_has_no_graph) {
  counting by;
  auto x = operands(weighing::per_term, at::kFloat);
  for (auto& one : x)
    one = one.detach();
  EXPECT_FALSE(result_of(x, &by).requires_grad());
  EXPECT_EQ(by.forwards, 1);
}

TEST(side_product, leaves_what_it_is_added_to) {
  const auto backend = cpu();
  const auto x = operands(weighing::none, at::kFloat);
  const auto before = x[0].detach().clone();
  EXPECT_GT(apart(result_of(x, backend.get()), before), 0.01);
  EXPECT_EQ(apart(x[0], before), 0);
}

TEST(side_product, takes_the_memory_of_what_nobody_reads) {
  const auto backend = cpu();
  for (const auto how : all_ways) {
    auto x = operands(how, at::kFloat);
    const auto expected = slopes_of(x, backend.get(), false);
    const auto said = result_of(x, backend.get());
    const auto y = x[0] * 1;
    const auto found =
      with_side_terms(y, x[1], x[2], x[3], x.size() > 4 ? x[4] : at::Tensor{},
                      {3, 2}, 0.75, backend.get(), tensor_use::alone);
    EXPECT_EQ(found.data_ptr(), y.data_ptr());
    EXPECT_EQ(apart(found, said), 0);
    const auto number = (found * found * by_rule(9, {5, 6}, at::kFloat)).sum();
    expect_near(torch::autograd::grad({number}, x), expected, 1e-12);
    // What lies apart has another order, which a result never has.
    const auto turned = y.detach().t().contiguous().t();
    EXPECT_NE(with_side_terms(turned, x[1], x[2], x[3], {}, {3, 2}, 1,
                              backend.get(), tensor_use::alone)
                .data_ptr(),
              turned.data_ptr());
  }
}

TEST(side_product, takes_rows_that_lie_apart) {
  const auto backend = cpu();
  auto x = operands(weighing::none, at::kFloat);
  const auto expected = result_of(x, backend.get());
  const auto turned = x[1].detach().t().contiguous().requires_grad_();
  x[1] = turned.t();
  const auto y = result_of(x, backend.get());
  EXPECT_EQ(apart(y, expected), 0);
  y.sum().backward();
  EXPECT_EQ(turned.grad().sizes(), turned.sizes());
}

TEST(side_product, without_terms_is_what_it_is_added_to) {
  const auto y = by_rule(1, {5, 6}, at::kFloat);
  const auto none = at::zeros({0, 6}, at::kFloat);
  const auto found = with_side_terms(y, by_rule(2, {5, 7}, at::kFloat), none,
                                     at::zeros({0, 7}), {}, {}, 1, nullptr);
  EXPECT_TRUE(found.is_same(y));
}

} // namespace troupe::models::side_product_test
