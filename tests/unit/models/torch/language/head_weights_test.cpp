// A head that a group has as a whole, beside factors in layers.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/torch/group_buffers.hpp"
#include "tests/support/tiny_language.hpp"

namespace troupe::models {

namespace {

using test::apart;

/// A layer of 3 x 4 with a bias, and a head of 2 x 3.
class headed_base final : public language_base {
public:
  headed_base() {
    for (std::uint32_t i = 0; i < 23; ++i)
      values_.push_back(static_cast<float>(test::value_by_rule(1, i)));
  }

  const language_spec& spec() const noexcept override {
    return spec_;
  }

  const tensor_list& tensors() const noexcept override {
    return tensors_;
  }

  base_tensor at(std::size_t place) const noexcept override {
    std::size_t first = 0;
    for (std::size_t i = 0; i < place; ++i)
      first += tensors_[i].size();
    return {stored_type::f32, std::as_bytes(std::span{values_}.subspan(
                                first, tensors_[place].size()))};
  }

  const digest& content() const noexcept override {
    return content_;
  }

  bool is_made() const noexcept override {
    return false;
  }

  std::uint64_t bytes() const noexcept override {
    return 0;
  }

private:
  language_spec spec_;
  tensor_list tensors_{{"fc.weight", {3, 4}},
                       {"fc.bias", {3}},
                       {"head.weight", {2, 3}},
                       {"head.bias", {2}}};
  std::vector<float> values_;
  digest content_{};
};

at::Tensor tensor_of(const language_base& x, std::size_t place) {
  std::vector<float> values(x.tensors()[place].size());
  x.read_rows(place, 0, values);
  return at::tensor(values, at::kFloat).reshape(x.tensors()[place].shape);
}

/// Of the head alone.
adapter_plan plan_of_head() {
  adapter_plan x;
  x.model_size = 23;
  x.tensors = {{"head.weight", {2, 3}}, {"head.bias", {2}}};
  x.vectors = {{.at = 15, .size = 6, .in_adapter = 0},
               {.at = 21, .size = 2, .in_adapter = 6}};
  return x;
}

} // namespace

TEST(head_weights, are_added_to_the_head_without_a_scale) {
  const auto base = std::make_shared<const headed_base>();
  group_buffers testee{base};
  const auto ok = testee.attach(
    {{.name = "adapter", .plan = plan_of_head(), .scale = 8}}, nullptr);
  ASSERT_TRUE(ok) << ok.error().context;
  ASSERT_EQ(testee.values().size(), 8u);
  const auto x = at::ones({5, 3}, at::kFloat);
  const auto before = at::linear(x, tensor_of(*base, 2), tensor_of(*base, 3));
  EXPECT_TRUE(at::equal(testee.parts().product(2, 3, x), before));
  for (std::size_t i = 0; i < 8; ++i)
    testee.values()[i] = static_cast<float>(i);
  // Rows of 0 + 1 + 2 and 3 + 4 + 5, and biases of 6 and 7.
  const auto more = at::tensor({3. + 6, 12. + 7}, at::kFloat);
  const auto y = testee.parts().product(2, 3, x);
  EXPECT_LT(apart(y, before + more), 1e-5);
  y.sum().backward();
  EXPECT_EQ(std::ranges::count(testee.slopes(), 5.f), 8);
  EXPECT_EQ(testee.leaves().size(), 2u);
  testee.leave_out(0, true);
  EXPECT_TRUE(at::equal(testee.parts().product(2, 3, x), before));
}

TEST(head_weights, are_all_that_is_taken_as_a_whole) {
  const auto base = std::make_shared<const headed_base>();
  group_buffers testee{base};
  auto plan = plan_of_head();
  plan.tensors = {{"fc.bias", {3}}};
  plan.vectors = {{.at = 12, .size = 3, .in_adapter = 0}};
  const auto refused =
    testee.attach({{.name = "adapter", .plan = plan}}, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context,
            "'adapter' adapts biases, which adapters inside layers do not; "
            "adapter_bias = 0 would do");
}

} // namespace troupe::models
