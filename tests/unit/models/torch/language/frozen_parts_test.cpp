// Products with tensors that nobody trains, however they are kept.

#include "models/torch/frozen_parts.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/language/base.hpp"
#include "models/torch/language/second_slopes.hpp"
#include "tests/support/small_adapters.hpp"
#include "tests/support/stored_language.hpp"
#include "tests/support/tiny_language.hpp"

namespace troupe::models::frozen_parts_test {

namespace {

using test::apart;

constexpr std::size_t outputs = 5;
constexpr std::size_t inputs = 64;

/// A matrix whose bytes follow a rule, and a bias.
class stored_base final : public language_base {
public:
  explicit stored_base(stored_type type)
    : type_(type),
      bytes_(test::blocks_by_rule(type, outputs * inputs
                                          / facts_of(type).block_values)) {
    for (std::size_t i = 0; i < outputs; ++i)
      bias_.push_back(static_cast<float>(i) - 2);
  }

  const language_spec& spec() const noexcept override {
    return spec_;
  }

  const tensor_list& tensors() const noexcept override {
    return tensors_;
  }

  base_tensor at(std::size_t place) const noexcept override {
    if (place == 1)
      return {stored_type::f32, std::as_bytes(std::span{bias_})};
    return {type_, bytes_};
  }

  const digest& content() const noexcept override {
    return content_;
  }

  bool is_made() const noexcept override {
    return false;
  }

  std::uint64_t bytes() const noexcept override {
    return bytes_.size();
  }

private:
  stored_type type_;
  language_spec spec_;
  tensor_list tensors_{{"a.weight", {outputs, inputs}}, {"a.bias", {outputs}}};
  digest content_{};
  std::vector<std::byte> bytes_;
  std::vector<float> bias_;
};

constexpr stored_type types[] = {stored_type::f32, stored_type::bf16,
                                 stored_type::q8_0, stored_type::q4_1};

std::shared_ptr<const language_base> base_of(stored_type type) {
  return std::make_shared<stored_base>(type);
}

at::Tensor dense(const language_base& base) {
  auto values = at::empty({outputs, inputs}, at::kFloat);
  base.read_rows(0, 0, std::span{values.data_ptr<float>(), outputs * inputs});
  return values;
}

at::Tensor some_rows(std::vector<std::int64_t> shape, std::uint32_t phase = 7) {
  auto x = at::empty(shape, at::kFloat);
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.data_ptr<float>()[i] = static_cast<float>(
      test::value_by_rule(phase, static_cast<std::uint32_t>(i)));
  return x;
}

} // namespace

TEST(frozen_product, is_that_of_the_values_whatever_they_are_kept_as) {
  for (const auto type : types) {
    SCOPED_TRACE(facts_of(type).name);
    const auto base = base_of(type);
    const auto weight = dense(*base);
    EXPECT_GT(weight.abs().max().item<double>(), 0.04);
    const auto x = some_rows({2, 3, inputs});
    EXPECT_LT(apart(frozen_product(base, 0, x), at::linear(x, weight)), 1e-6);
  }
}

TEST(frozen_product, has_the_slopes_of_the_values_and_theirs) {
  for (const auto type : types) {
    SCOPED_TRACE(facts_of(type).name);
    const auto base = base_of(type);
    const auto weight = dense(*base);
    const auto slopes = [&](bool is_frozen) {
      const auto x = some_rows({4, inputs}).requires_grad_();
      const auto y =
        is_frozen ? frozen_product(base, 0, x) : at::linear(x, weight);
      const auto first =
        torch::autograd::grad({(y * y * y).sum()}, {x}, {}, true, true);
      const auto second =
        torch::autograd::grad({(first[0] * first[0]).sum()}, {x});
      return std::pair{first[0].detach(), second[0]};
    };
    const auto ours = slopes(true), theirs = slopes(false);
    EXPECT_LT(apart(ours.first, theirs.first),
              1e-5 * (1 + theirs.first.abs().max().item<double>()));
    EXPECT_LT(apart(ours.second, theirs.second),
              1e-5 * (1 + theirs.second.abs().max().item<double>()));
  }
}

TEST(frozen_product, keeps_its_base_for_as_long_as_its_graph) {
  auto base = base_of(stored_type::q8_0);
  const std::weak_ptr<const language_base> seen = base;
  const auto x = some_rows({4, inputs}).requires_grad_();
  auto y = frozen_product(base, 0, x);
  base.reset();
  EXPECT_FALSE(seen.expired());
  y.sum().backward();
  EXPECT_TRUE(x.grad().defined());
  y = at::Tensor{};
  EXPECT_TRUE(seen.expired());
}

TEST(frozen_parts, look_into_the_memory_of_their_base) {
  const auto base = base_of(stored_type::f32);
  frozen_parts parts{base};
  EXPECT_EQ(static_cast<const void*>(parts.whole(0).data_ptr<float>()),
            static_cast<const void*>(base->at(0).bytes.data()));
  EXPECT_FALSE(parts.whole(0).requires_grad());
}

TEST(frozen_parts, are_the_values_whatever_they_are_kept_as) {
  const auto ids = at::tensor({4., 0., 4., 1.}, at::kLong).reshape({2, 2});
  for (const auto type : types) {
    SCOPED_TRACE(facts_of(type).name);
    const auto base = base_of(type);
    frozen_parts parts{base};
    const auto weight = dense(*base);
    EXPECT_EQ(apart(parts.whole(0), weight), 0);
    EXPECT_EQ(apart(parts.rows(0, ids), at::embedding(weight, ids)), 0);
    const auto x = some_rows({2, 3, inputs});
    const auto bias = parts.whole(1);
    EXPECT_EQ(bias[0].item<double>(), -2);
    EXPECT_LT(apart(parts.product(0, 1, x), at::linear(x, weight, bias)), 1e-6);
    EXPECT_LT(apart(parts.product(0, no_place, x), at::linear(x, weight)),
              1e-6);
  }
}

// Rows and the whole of a tensor are of the same matrix as products with it.
TEST(frozen_parts, have_factors_beside_rows_and_the_whole_as_beside_products) {
  const auto ids = at::tensor({4., 0., 4., 1.}, at::kLong).reshape({2, 2});
  const auto backend = cpu();
  for (auto* by : {backend.get(), static_cast<kernels::backend*>(nullptr)})
    for (const auto type : types) {
      SCOPED_TRACE(facts_of(type).name);
      const auto base = base_of(type);
      frozen_parts parts{base};
      const auto u = some_rows({2, outputs}, 1), v = some_rows({2, inputs}, 2),
                 w = some_rows({1, outputs}, 3), z = some_rows({1, inputs}, 4);
      std::map<std::size_t, std::vector<frozen_parts::attached_factors>> beside;
      beside[0].push_back({.u = u, .v = v, .scale = 2, .group = 0});
      beside[0].push_back({.u = w, .v = z, .scale = 0.5, .group = 1});
      parts.attach(std::move(beside), 2, by);
      parts.weigh(at::tensor({3., 10.}, at::kFloat));
      auto composed = dense(*base) + 6 * u.t().mm(v) + 5 * w.t().mm(z);
      const auto x = some_rows({2, 3, inputs});
      const auto expect = [&] {
        EXPECT_LT(apart(parts.whole(0), composed), 1e-5);
        EXPECT_LT(apart(parts.rows(0, ids), at::embedding(composed, ids)),
                  1e-5);
        EXPECT_LT(apart(parts.product(0, no_place, x), at::linear(x, composed)),
                  1e-4);
      };
      expect();
      parts.leave_out(1, true);
      composed = dense(*base) + 6 * u.t().mm(v);
      expect();
      parts.weigh({});
      composed = dense(*base) + 2 * u.t().mm(v);
      expect();
      parts.leave_out(0, true);
      composed = dense(*base);
      expect();
    }
}

// Some rows at a time, of what is kept and of what learns beside it.
TEST(frozen_parts, have_losses_that_bend_as_those_of_their_products) {
  const auto targets = at::tensor({4., 0., 3., 1.}, at::kLong);
  for (const auto type : types) {
    SCOPED_TRACE(facts_of(type).name);
    const auto base = base_of(type);
    const auto slopes = [&](bool is_open) {
      frozen_parts parts{base};
      const auto u = some_rows({2, outputs}, 1).requires_grad_(),
                 v = some_rows({2, inputs}, 2).requires_grad_(),
                 x = some_rows({4, inputs}).requires_grad_();
      std::map<std::size_t, std::vector<frozen_parts::attached_factors>> beside;
      beside[0].push_back({.u = u, .v = v, .scale = 2});
      parts.attach(std::move(beside), 1, nullptr);
      const auto loss =
        is_open ? summed_cross_entropy(parts.open(0, 1, x), targets, 3)
                : at::cross_entropy_loss(parts.product(0, 1, x), targets, {},
                                         at::Reduction::Sum);
      auto all = torch::autograd::grad({loss}, {x, u, v}, {}, true, true);
      auto sum = at::zeros({});
      for (const auto& slope : all)
        sum = sum + slope.square().sum();
      for (const auto& bent : torch::autograd::grad({sum}, {x, u, v}))
        all.push_back(bent);
      return all;
    };
    const auto ours = slopes(true), theirs = slopes(false);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const auto size = theirs[i].abs().max().item<double>();
      EXPECT_GT(size, 0.01) << i;
      EXPECT_LT(apart(ours[i], theirs[i]), 1e-5 * (1 + size)) << i;
    }
  }
}

} // namespace troupe::models::frozen_parts_test
