#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <thread>

#include "core/random.hpp"
#include "models/torch/objective.hpp"
#include "tests/support/small_data.hpp"

// Modules are written here, saved, and read back as those of a user would be.

namespace troupe::models::script_test {

namespace {

using test::small_dataset;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using torch::jit::Module;
using rows = std::vector<std::uint32_t>;
using tensors = std::vector<at::Tensor>;

const rows some{0, 3, 5, 7};

at::Tensor numbers(std::vector<std::int64_t> shape, std::uint64_t seed) {
  auto result = at::empty(shape);
  random_stream draws{seed};
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_ptr<float>()[i] = static_cast<float>(draws.normal() / 2);
  return result;
}

class script : public ::testing::Test {
protected:
  script() {
    module_.register_attribute("training", c10::BoolType::get(), true);
    add("w", numbers({3, 4}, 1));
    add("b", numbers({3}, 2));
  }

  ~script() override {
    std::filesystem::remove(path_);
  }

  void add(const std::string& name, const at::Tensor& x) {
    module_.register_parameter(name, x.requires_grad_(), false);
  }

  void save(const std::string& source) {
    module_.define(source);
    module_.save(path_);
  }

  result<std::unique_ptr<objective>> load() {
    return make_torch_objective(
      {.kind = model_kind::torchscript, .path = path_}, data_);
  }

  std::unique_ptr<objective> ready() {
    auto made = load();
    if (!made)
      throw std::runtime_error(made.error().context);
    std::ranges::copy((*made)->initial_parameters(1),
                      (*made)->parameters().begin());
    std::ranges::copy((*made)->initial_buffers(), (*made)->buffers().begin());
    (*made)->begin();
    return std::move(*made);
  }

  std::string refusal() {
    const auto made = load();
    return made ? "accepted" : made.error().context;
  }

  Module module_{"troupe_test"};
  std::string path_ =
    ::testing::TempDir() + "troupe_script_"
    + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".pt";
  std::shared_ptr<dataset> data_ = small_dataset();
};

std::vector<float> copied(std::span<const float> x) {
  return {x.begin(), x.end()};
}

std::vector<float> gradient_of(objective& x, std::uint64_t seed = 1) {
  std::ranges::fill(x.gradient(), 0.0f);
  const auto loss = x.backward(some, seed);
  EXPECT_TRUE(loss) << loss.error().context;
  return copied(x.gradient());
}

constexpr auto linear = R"(
def forward(self, x):
    return torch.linear(x, self.w, self.b)
)";

constexpr auto with_dropout = R"(
def forward(self, x):
    y = torch.dropout(torch.linear(x, self.w, self.b), 0.5, self.training)
    return y + 0.1 * torch.rand_like(y) * float(self.training)
)";

} // namespace

TEST_F(script, computes_what_the_same_native_model_does) {
  save(linear);
  const auto scripted = ready();
  const auto native =
    *make_torch_objective({.kind = model_kind::softmax}, data_);
  std::ranges::copy(scripted->parameters(), native->parameters().begin());
  EXPECT_EQ(*scripted->backward(some, 1), *native->backward(some, 1));
  EXPECT_EQ(copied(scripted->gradient()), copied(native->gradient()));
  EXPECT_EQ(scripted->evaluate(split::test, some)->loss,
            native->evaluate(split::test, some)->loss);
}

// It would be read beyond its end. A current LibTorch sees it before us.
TEST_F(script, refuses_a_tensor_of_which_less_is_stored) {
  auto beyond = at::empty({0});
  beyond.unsafeGetTensorImpl()->set_sizes_contiguous({3, 4});
  add("v", beyond);
  save(linear);
  EXPECT_THAT(refusal(), AnyOf(HasSubstr("and 0 bytes are stored of it"),
                               HasSubstr("storage of at least 48 byte")));
}

TEST_F(script, refuses_a_file_with_another_byte) {
  save(linear);
  std::fstream file{path_, std::ios::in | std::ios::out | std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  const auto w = numbers({3, 4}, 1);
  const auto at = bytes.find({static_cast<const char*>(w.data_ptr()), 8});
  ASSERT_NE(at, bytes.npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(bytes[at] ^ 1));
  file.close();
  EXPECT_THAT(refusal(), HasSubstr("in it is damaged"));
}

TEST_F(script, begins_with_the_values_of_its_file) {
  save(linear);
  const auto model = ready();
  ASSERT_EQ(model->parameter_list().size(), 2u);
  EXPECT_EQ(model->parameter_list()[0], (tensor_spec{"w", {3, 4}}));
  EXPECT_EQ(model->parameter_list()[1], (tensor_spec{"b", {3}}));
  const auto w = numbers({3, 4}, 1), b = numbers({3}, 2);
  std::vector<float> expected(w.data_ptr<float>(), w.data_ptr<float>() + 12);
  expected.insert(expected.end(), b.data_ptr<float>(), b.data_ptr<float>() + 3);
  EXPECT_EQ(model->initial_parameters(1), expected);
  EXPECT_EQ(model->initial_parameters(2), expected);
}

TEST_F(script,
       computes_what_torch_does_without_a_script_from_the_first_call_on) {
  data_ = small_dataset({.shape = {784}});
  add("v", numbers({200, 784}, 3));
  add("c", numbers({200}, 4));
  add("u", numbers({3, 200}, 5));
  save(R"(
def forward(self, x):
    return torch.linear(torch.tanh(torch.linear(x, self.v, self.c)), self.u, self.b)
)");
  tensors weights;
  for (const auto& x : module_.parameters())
    weights.push_back(x.detach().clone().requires_grad_());
  auto values = std::get<std::vector<float>>(data_->train.inputs[0].values);
  const auto all = at::from_blob(values.data(), {12, 784});
  const auto which = at::tensor({0, 3, 5, 7}, at::kLong);
  const auto labels =
    at::from_blob(data_->train.labels.data(), {12}, at::kLong);
  const auto hidden =
    at::tanh(at::linear(all.index_select(0, which), weights[2], weights[3]));
  at::cross_entropy_loss(at::linear(hidden, weights[4], weights[1]),
                         labels.index_select(0, which))
    .backward();
  std::vector<float> expected(12); // "w" is not used.
  for (const auto& x : weights | std::views::drop(1)) {
    const auto slopes = x.grad().contiguous();
    const auto* first = slopes.data_ptr<float>();
    expected.insert(expected.end(), first, first + slopes.numel());
  }
  const auto model = ready();
  for (int call = 0; call < 4; ++call)
    EXPECT_TRUE(gradient_of(*model) == expected) << call;
}

// The optimising executor computes some gradients (that of tanh) in another
// way, from the second call on, unless the first was an evaluation.
TEST_F(script, runs_without_the_optimising_executor_in_every_thread) {
  save(linear);
  const auto model = ready();
  const auto optimises_after_a_step = [&] {
    torch::jit::setGraphExecutorOptimize(true);
    gradient_of(*model);
    return torch::jit::getGraphExecutorOptimize();
  };
  EXPECT_FALSE(optimises_after_a_step());
  bool elsewhere = true;
  std::thread{[&] { elsewhere = optimises_after_a_step(); }}.join();
  EXPECT_FALSE(elsewhere);
}

TEST_F(script, takes_several_inputs_also_of_integers) {
  add("table", numbers({5, 4}, 3));
  save(R"(
def forward(self, x, words):
    y = torch.embedding(self.table, words).mean(1)
    return torch.linear(x + y, self.w, self.b)
)");
  for (auto* part : {&data_->train, &data_->test}) {
    std::vector<std::int64_t> words;
    for (std::size_t i = 0; i < 2 * part->size; ++i)
      words.push_back(static_cast<std::int64_t>(i % 5));
    part->inputs.push_back({"words", {2}, std::move(words)});
  }
  const auto model = ready();
  const auto before = *model->backward(some, 1);
  const auto slopes = copied(model->gradient());
  EXPECT_TRUE(std::ranges::any_of(slopes | std::views::drop(15),
                                  [](float x) { return x != 0; }));
  for (std::size_t i = 0; i < slopes.size(); ++i)
    model->parameters()[i] -= 0.1f * slopes[i];
  EXPECT_LT(model->evaluate(split::train, some)->mean_loss(), before);
}

TEST_F(script, drops_by_the_seed_alone) {
  save(with_dropout);
  const auto model = ready();
  const auto one = gradient_of(*model, 1);
  EXPECT_NE(gradient_of(*model, 2), one);
  EXPECT_EQ(gradient_of(*model, 1), one);
  const auto scored = model->evaluate(split::train, some)->loss;
  EXPECT_EQ(model->evaluate(split::train, some)->loss, scored);
}

TEST_F(script, drops_the_same_in_two_threads_at_once) {
  save(with_dropout);
  constexpr std::uint64_t steps = 200;
  const auto train = [&](objective& x) {
    for (std::uint64_t i = 0; i < steps; ++i) {
      const auto slopes = gradient_of(x, i);
      for (std::size_t j = 0; j < slopes.size(); ++j)
        x.parameters()[j] -= 0.01f * slopes[j];
    }
    return copied(x.parameters());
  };
  const auto serial = train(*ready());
  std::vector<float> one, two;
  std::thread first{[&] { one = train(*ready()); }};
  std::thread second{[&] { two = train(*ready()); }};
  first.join();
  second.join();
  EXPECT_EQ(one, serial);
  EXPECT_EQ(two, serial);
}

TEST_F(script, keeps_the_statistics_of_batch_norm_in_its_buffers) {
  module_.register_buffer("mean", at::zeros({4}));
  module_.register_buffer("var", at::ones({4}));
  module_.register_buffer("steps", at::zeros({}, at::kLong));
  save(R"(
def forward(self, x):
    if self.training:
        self.steps = self.steps + 1
        self.var = self.var * 1.0
    y = torch.batch_norm(x, None, None, self.mean, self.var, self.training, 0.1, 1e-5, False)
    return torch.linear(y, self.w, self.b) * (1.0 + 0.1 * float(self.steps))
)");
  const auto model = ready();
  EXPECT_EQ(size_of(model->buffer_list()), 8u);
  EXPECT_EQ(copied(model->buffers()), model->initial_buffers());
  const auto fresh = model->evaluate(split::test, some)->loss;
  const auto slopes = gradient_of(*model);
  const auto moved = copied(model->buffers());
  EXPECT_NE(moved, model->initial_buffers());
  EXPECT_NE(moved[5], 1.0f);
  model->evaluate(split::test, some);
  EXPECT_EQ(copied(model->buffers()), moved);
  EXPECT_NE(gradient_of(*model), slopes); // The counter went on.
  std::ranges::copy(model->initial_buffers(), model->buffers().begin());
  model->begin();
  EXPECT_EQ(model->evaluate(split::test, some)->loss, fresh);
  EXPECT_EQ(gradient_of(*model), slopes);
}

TEST_F(script, keeps_its_buffers_when_evaluation_would_change_them) {
  module_.register_buffer("seen", at::zeros({}));
  module_.register_buffer("calls", at::zeros({}, at::kLong));
  save(R"(
def forward(self, x):
    self.seen.add_(float(x.size(0)))
    self.calls = self.calls + 1
    return torch.linear(x, self.w, self.b) + self.seen + float(self.calls)
)");
  const auto model = ready();
  EXPECT_EQ(model->evaluate(split::test, some)->loss,
            model->evaluate(split::test, some)->loss);
  EXPECT_EQ(model->buffers()[0], 0.0f);
}

TEST_F(script, trains_tied_weights_as_one_parameter) {
  Module inner{"troupe_inner"};
  const auto shared = numbers({4, 4}, 3).requires_grad_();
  inner.register_parameter("m", shared, false);
  inner.define("def forward(self, x):\n    return torch.matmul(x, self.m)\n");
  add("m", shared);
  module_.register_module("inner", inner);
  save(R"(
def forward(self, x):
    return torch.linear(torch.matmul(self.inner.forward(x), self.m), self.w, self.b)
)");
  const auto model = ready();
  EXPECT_EQ(size_of(model->parameter_list()), 12u + 3 + 16);
  const auto slopes = gradient_of(*model);
  const auto loss_at = [&](float t) {
    model->parameters()[20] += t;
    const auto result = model->evaluate(split::train, some)->mean_loss();
    model->parameters()[20] -= t;
    return result;
  };
  EXPECT_NEAR((loss_at(0.01f) - loss_at(-0.01f)) / 0.02, slopes[20], 1e-3);
}

TEST_F(script, leaves_alone_what_requires_no_gradient) {
  module_.register_parameter("fixed", numbers({4, 4}, 3).requires_grad_(false),
                             false);
  save(R"(
def forward(self, x):
    return torch.linear(torch.matmul(x, self.fixed), self.w, self.b)
)");
  EXPECT_EQ(size_of(ready()->parameter_list()), 15u);
}

TEST_F(script, is_refused_with_parameters_of_another_type) {
  add("d", at::ones({3}, at::kDouble));
  save("def forward(self, x):\n    return torch.linear(x, self.w, self.b)\n");
  EXPECT_EQ(refusal(),
            "model.path '" + path_
              + "': 'd' is of type Double; only Float (32 bits) can be "
                "trained and merged, so save the module after "
                "module.float()");
}

TEST_F(script, is_refused_where_the_data_does_not_fit) {
  save(linear);
  data_ = small_dataset({.shape = {5}});
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("the model fails on a batch of 2 examples: "),
                    HasSubstr("shapes cannot be multiplied (2x5 and 4x3)")));
  data_ = small_dataset({.classes = 4});
  EXPECT_EQ(refusal(),
            "the model's output for 2 examples has shape [2, 3] and type "
            "Float; logits of this data have shape [2, 4] and type Float");
  data_ = small_dataset();
  data_->train.inputs.push_back(data_->train.inputs[0]);
  data_->test.inputs.push_back(data_->test.inputs[0]);
  EXPECT_THAT(refusal(), HasSubstr("at most 2 argument(s)"));
}

TEST_F(script, is_refused_without_a_file_or_with_another_one) {
  EXPECT_EQ(refusal(),
            "model.path '" + path_
              + "': there is no such file; kind 'torchscript' needs a "
                "saved module");
  std::filesystem::copy_file(TROUPE_SOURCE_DIR "/CMakeLists.txt", path_);
  EXPECT_THAT(refusal(), HasSubstr("is no scripted module: "));
}

TEST_F(script, is_refused_with_nothing_to_train) {
  module_ = Module{"troupe_empty"};
  save("def forward(self, x):\n    return x[:, 0:3]\n");
  EXPECT_THAT(refusal(), HasSubstr("no parameter that requires a gradient"));
}

TEST_F(script, that_fails_in_training_leaves_a_gradient_of_zeros) {
  save(R"(
def forward(self, x):
    assert x.size(0) > 1 or not self.training, 'one example is too few'
    return torch.linear(x, self.w, self.b)
)");
  const auto model = ready();
  ASSERT_TRUE(model->backward(some, 1));
  const auto failed = model->backward(rows{1}, 1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::invalid_config);
  EXPECT_THAT(failed.error().context, HasSubstr("one example is too few"));
  EXPECT_EQ(copied(model->gradient()), std::vector<float>(15));
}

} // namespace troupe::models::script_test
