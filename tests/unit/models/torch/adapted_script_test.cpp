// Adapters on the linear and the convolution layer of a script: they change
// nothing at first, and what is trained ends as weights of the plain module.

#include <gtest/gtest.h>
#include <torch/script.h>

#include <algorithm>
#include <filesystem>

#include "models/outputs.hpp"
#include "models/torch/objective.hpp"
#include "tests/support/small_adapters.hpp"
#include "tests/support/small_data.hpp"

namespace troupe::models::adapted_script_test {

namespace {

using torch::jit::Module;

const std::vector<std::uint32_t> some{0, 3, 5, 7};

const tensor_list layers = {{"conv.weight", {4, 1, 3, 3}},
                            {"conv.bias", {4}},
                            {"last.weight", {3, 4}},
                            {"last.bias", {3}}};

/// A module with these values, as it was saved and read again.
std::unique_ptr<objective> read_script(std::span<const float> values) {
  Module whole{"whole"};
  whole.register_attribute("training", c10::BoolType::get(), true);
  Module conv{"conv"}, last{"last"};
  for (const auto& x : layers) {
    auto tensor = at::empty(x.shape);
    std::ranges::copy(values.first(x.size()), tensor.data_ptr<float>());
    values = values.subspan(x.size());
    auto& owner = x.name.starts_with("conv") ? conv : last;
    owner.register_parameter(x.name.substr(5), tensor.requires_grad_(), false);
  }
  whole.register_module("conv", conv);
  whole.register_module("last", last);
  whole.define(R"(
def forward(self, x):
    y = torch.conv2d(x, self.conv.weight, self.conv.bias)
    return torch.linear(torch.relu(y).mean([2, 3]), self.last.weight, self.last.bias)
)");
  const auto path = ::testing::TempDir() + "troupe_adapted_script.pt";
  whole.save(path);
  auto made =
    make_torch_objective({.kind = model_kind::torchscript, .path = path},
                         test::small_dataset({.shape = {1, 8, 8}}));
  std::filesystem::remove(path);
  EXPECT_TRUE(made) << made.error().context;
  std::ranges::copy((*made)->initial_parameters(1),
                    (*made)->parameters().begin());
  return std::move(*made);
}

floats logits_of(objective& x) {
  floats said(some.size() * 3);
  EXPECT_TRUE(x.outputs()->say(split::test, some, said));
  return said;
}

} // namespace

TEST(adapted_script, begins_as_it_was_and_ends_as_plain_weights) {
  const auto base = draw(size_of(layers), 1);
  const auto script = read_script(base);
  const auto plain = logits_of(*script);
  const auto plan = planned(script->parameter_list(), {.rank = 2});
  ASSERT_EQ(plan.matrices.size(), 2u);
  const auto arithmetic = cpu();
  adapter_mixture on{plan, *arithmetic};
  constexpr double one[] = {1};
  auto adapter = initial_adapter(plan, 3);
  const auto compose = [&] {
    const std::span<const float> values[] = {adapter};
    ASSERT_TRUE(on.compose(base, values, one, script->parameters()));
  };
  compose();
  EXPECT_EQ(logits_of(*script), plain) << "to the bit";
  const auto score = [&] {
    return script->evaluate(split::train, some)->mean_loss();
  };
  const auto before = score();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(script->backward(some, 1));
    adapter_mixture::slopes slopes;
    const std::span<const float> values[] = {adapter};
    ASSERT_TRUE(on.pull_back(script->gradient(), values, one, slopes));
    for (std::size_t j = 0; j < adapter.size(); ++j)
      adapter[j] -= 0.05f * slopes.adapters[0][j];
    std::ranges::fill(script->gradient(), 0.f);
    compose();
  }
  EXPECT_LT(score(), 0.8 * before) << "the adapters are trained";
  const auto merged = read_script(script->parameters());
  EXPECT_EQ(logits_of(*merged), logits_of(*script)) << "to the bit";
}

} // namespace troupe::models::adapted_script_test
