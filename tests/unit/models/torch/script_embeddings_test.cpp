#include <gtest/gtest.h>
#include <torch/script.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "core/random.hpp"
#include "models/embeddings.hpp"
#include "models/torch/objective.hpp"
#include "tests/support/small_data.hpp"

// A module's method 'embed' says what goes into its last layer.

namespace troupe::models::script_embeddings_test {

namespace {

using test::small_dataset;
using rows = std::vector<std::uint32_t>;

at::Tensor numbers(std::vector<std::int64_t> shape, std::uint64_t seed) {
  auto result = at::empty(shape);
  random_stream draws{seed};
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_ptr<float>()[i] = static_cast<float>(draws.normal() / 2);
  return result;
}

class script_embeddings : public ::testing::Test {
protected:
  script_embeddings() {
    module_.register_attribute("training", c10::BoolType::get(), true);
    add("v", numbers({5, 4}, 1));
    add("w", numbers({3, 5}, 2));
    module_.register_buffer("calls", at::zeros({}));
  }

  ~script_embeddings() override {
    std::filesystem::remove(path_);
  }

  void add(const std::string& name, const at::Tensor& x) {
    module_.register_parameter(name, x.requires_grad_(), false);
  }

  std::unique_ptr<objective> ready(const std::string& source) {
    module_.define(source);
    module_.save(path_);
    auto made = make_torch_objective(
      {.kind = model_kind::torchscript, .path = path_}, data_);
    if (!made)
      throw std::runtime_error(made.error().context);
    std::ranges::copy((*made)->initial_parameters(1),
                      (*made)->parameters().begin());
    std::ranges::copy((*made)->initial_buffers(), (*made)->buffers().begin());
    (*made)->begin();
    return std::move(*made);
  }

  torch::jit::Module module_{"troupe_test"};
  std::string path_ =
    ::testing::TempDir() + "troupe_script_embeddings_"
    + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".pt";
  std::shared_ptr<dataset> data_ = small_dataset();
};

constexpr auto with_embed = R"(
def embed(self, x):
    self.calls = self.calls + 1.0
    y = torch.dropout(torch.linear(x, self.v), 0.5, self.training)
    return torch.relu(y) + self.calls - 1.0

def forward(self, x):
    return torch.linear(self.embed(x), self.w)
)";

constexpr auto without_embed = R"(
def forward(self, x):
    return torch.linear(torch.linear(x, self.v), self.w)
)";

/// Of tokens, as many methods of this name are.
constexpr auto of_another_shape = R"(
def embed(self, x):
    return torch.linear(x, self.v).unsqueeze(1)

def forward(self, x):
    return torch.linear(self.embed(x).squeeze(1), self.w)
)";

constexpr auto of_other_arguments = R"(
def embed(self, x, scale: float):
    return torch.linear(x, self.v) * scale

def forward(self, x):
    return torch.linear(self.embed(x, 0.5), self.w)
)";

constexpr auto of_no_tensor = R"(
def embed(self, x):
    return 5

def forward(self, x):
    return torch.linear(torch.linear(x, self.v), self.w)
)";

} // namespace

TEST_F(script_embeddings, are_what_its_method_returns) {
  const auto model = ready(with_embed);
  auto* of = model->embeddings();
  ASSERT_NE(of, nullptr);
  ASSERT_EQ(of->width(), 5u);
  std::vector<float> found(5);
  ASSERT_TRUE(of->embed(split::test, 2, found));
  auto values = std::get<std::vector<float>>(data_->test.inputs[0].values);
  const auto row = at::from_blob(values.data(), {12, 4}).slice(0, 2, 3);
  const auto expected =
    at::relu(at::linear(row, numbers({5, 4}, 1))).contiguous();
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_FLOAT_EQ(found[i], expected.data_ptr<float>()[i]);
}

TEST_F(script_embeddings, leave_no_trace_in_its_buffers) {
  const auto model = ready(with_embed);
  std::vector<float> first(5), second(5);
  ASSERT_TRUE(model->embeddings()->embed(split::train, 1, first));
  ASSERT_TRUE(model->embeddings()->embed(split::train, 1, second));
  EXPECT_EQ(first, second);
  EXPECT_EQ(model->buffers()[0], 0.0f);
  // In training it counts, and drops.
  ASSERT_TRUE(model->backward(rows{0, 1}, 1));
  EXPECT_EQ(model->buffers()[0], 1.0f);
}

TEST_F(script_embeddings, are_none_without_such_a_method) {
  const auto model = ready(without_embed);
  EXPECT_EQ(model->embeddings(), nullptr);
}

// It is trained as it always was.
TEST_F(script_embeddings, are_none_where_the_method_is_another_thing) {
  for (const auto* source :
       {of_another_shape, of_other_arguments, of_no_tensor}) {
    module_ = torch::jit::Module{"troupe_test"};
    module_.register_attribute("training", c10::BoolType::get(), true);
    add("v", numbers({5, 4}, 1));
    add("w", numbers({3, 5}, 2));
    const auto model = ready(source);
    EXPECT_EQ(model->embeddings(), nullptr) << source;
    EXPECT_TRUE(model->backward(rows{0, 1}, 1)) << source;
  }
}

} // namespace troupe::models::script_embeddings_test
