// PF2LoRA's hypergradient on a small transformer whose queries and values are
// adapted: the procedure's, in float, and torch's own, in double, beside it.

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/script.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "models/methods/common_adapter.hpp"
#include "models/torch/objective.hpp"
#include "node/task/torch_model.hpp"
#include "node/task/workload.hpp"
#include "tests/support/adapter_site.hpp"
#include "tests/support/small_adapters.hpp"
#include "tests/support/small_data.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test::two_level_test {

namespace {

using torch::jit::Module;
using tensors = std::vector<at::Tensor>;
using row_list = std::vector<std::uint32_t>;

constexpr std::int64_t width = 8, length = 5, heads = 2, layers = 2;
constexpr std::int64_t classes = 10;
constexpr std::int64_t common_rank = 2, own_rank = 1;
constexpr double inner_rate = 0.5;
const row_list inner{0, 1, 2, 3, 4, 5}, outer{6, 7, 8, 9, 10, 11};

/// All that is adapted, in the order of the module's parameters.
const char* const adapted[] = {"query0", "value0", "query1", "value1"};

at::Tensor numbers(std::vector<std::int64_t> shape, std::uint64_t seed,
                   double deviation) {
  auto result = at::empty(shape);
  random_stream draws{seed};
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_ptr<float>()[i] =
      static_cast<float>(deviation * draws.normal());
  return result;
}

/// Attention with a residual and a norm, and a feed-forward layer with both.
std::string layer_source(int i) {
  std::string source = R"(
    q = torch.linear(x, self.query#.weight).view(n, 5, 2, 4).transpose(1, 2)
    k = torch.linear(x, self.key#).view(n, 5, 2, 4).transpose(1, 2)
    v = torch.linear(x, self.value#.weight).view(n, 5, 2, 4).transpose(1, 2)
    a = torch.softmax(torch.matmul(q, k.transpose(2, 3)) * 0.5, 3)
    a = torch.matmul(a, v).transpose(1, 2).reshape(n, 5, 8)
    x = torch.layer_norm(x + torch.linear(a, self.mix#), [8])
    y = torch.linear(torch.gelu(torch.linear(x, self.up#)), self.down#)
    x = torch.layer_norm(x + y, [8]))";
  for (auto at = source.find('#'); at != source.npos; at = source.find('#'))
    source.replace(at, 1, std::to_string(i));
  return source;
}

/// Only queries and values are trained; the rest are constants of the script.
Module transformer() {
  static_assert(width == 8 && length == 5 && heads == 2);
  Module x{"transformer"};
  x.register_attribute("training", c10::BoolType::get(), true);
  std::uint64_t seed = 10;
  const auto constant = [&](const std::string& name, std::int64_t rows,
                            std::int64_t columns) {
    const auto deviation = 1 / std::sqrt(static_cast<double>(columns));
    x.register_parameter(
      name, numbers({rows, columns}, ++seed, deviation).requires_grad_(false),
      false);
  };
  std::string source =
    "\ndef forward(self, x):\n    n = x.size(0)\n    x = x.view(n, 5, 8)";
  for (int i = 0; i < layers; ++i) {
    const auto number = std::to_string(i);
    for (const auto* name : {"query", "value"}) {
      Module linear{name + number};
      linear.register_parameter(
        "weight", numbers({width, width}, ++seed, 0.35).requires_grad_(),
        false);
      x.register_module(name + number, linear);
    }
    constant("key" + number, width, width);
    constant("mix" + number, width, width);
    constant("up" + number, 2 * width, width);
    constant("down" + number, width, 2 * width);
    source += layer_source(i);
  }
  constant("head", classes, width);
  x.define(source + "\n    return torch.linear(x.mean([1]), self.head)\n");
  return x;
}

/// The same module in double, where the adapted weights are functions of the
/// factors: torch differentiates them as often as it is asked to.
class reference {
public:
  explicit reference(const models::dataset& data) : module_(transformer()) {
    torch::jit::setGraphExecutorOptimize(false);
    module_.to(at::kDouble);
    for (const auto* name : adapted) {
      places_.push_back(module_.attr(name).toModule());
      frozen_.push_back(places_.back().attr("weight").toTensor().detach());
    }
    const auto& values =
      std::get<std::vector<float>>(data.train.inputs[0].values);
    inputs_ =
      at::empty({static_cast<std::int64_t>(data.train.size), length, width});
    std::ranges::copy(values, inputs_.data_ptr<float>());
    inputs_ = inputs_.to(at::kDouble);
    labels_ = at::empty({inputs_.size(0)}, at::kLong);
    std::ranges::copy(data.train.labels, labels_.data_ptr<std::int64_t>());
  }

  at::Tensor logits(const at::Tensor& x, const at::Tensor& y,
                    const row_list& rows) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const auto weight =
        frozen_[i] + product(x, common_rank, at) + product(y, own_rank, at);
      places_[i]._ivalue()->setSlot(
        places_[i].type()->getAttributeSlot("weight"), weight);
    }
    return module_.forward({inputs_.index_select(0, index_of(rows))})
      .toTensor();
  }

  at::Tensor loss(const at::Tensor& x, const at::Tensor& y,
                  const row_list& rows) {
    return at::cross_entropy_loss(logits(x, y, rows),
                                  labels_.index_select(0, index_of(rows)));
  }

  /// The gradient along `by`, of which more can be taken.
  static at::Tensor slope(const at::Tensor& loss, const at::Tensor& by) {
    return torch::autograd::grad({loss}, {by}, {}, true, true)[0];
  }

private:
  static at::Tensor index_of(const row_list& rows) {
    auto result =
      at::empty({static_cast<std::int64_t>(rows.size())}, at::kLong);
    std::ranges::copy(rows, result.data_ptr<std::int64_t>());
    return result;
  }

  /// Of each matrix: u, rank x rows, and then v, rank x columns.
  static at::Tensor product(const at::Tensor& x, std::int64_t rank,
                            std::int64_t matrix) {
    const auto size = rank * width;
    const auto u = x.narrow(0, 2 * matrix * size, size).view({rank, width});
    const auto v =
      x.narrow(0, (2 * matrix + 1) * size, size).view({rank, width});
    return u.t().mm(v);
  }

  Module module_;
  std::vector<Module> places_;
  tensors frozen_;
  at::Tensor inputs_, labels_;
};

double relative_error(const at::Tensor& x, const at::Tensor& y) {
  return ((x - y).norm() / y.norm()).item<double>();
}

class two_level_transformer : public ::testing::Test {
protected:
  two_level_transformer() {
    transformer().save(path_);
  }

  ~two_level_transformer() override {
    std::filesystem::remove(path_);
  }

  std::unique_ptr<models::objective> model() const {
    auto made = models::make_torch_objective(
      {.kind = models::model_kind::torchscript, .path = path_}, data_);
    EXPECT_TRUE(made) << made.error().context;
    return std::move(*made);
  }

  static std::vector<float> factors(std::int64_t rank, std::uint64_t seed) {
    auto values = models::draw(
      static_cast<std::size_t>(2 * rank * width) * std::size(adapted), seed);
    for (auto& x : values)
      x *= 0.3f;
    return values;
  }

  static at::Tensor in_double(const std::vector<float>& x) {
    auto result = at::empty({static_cast<std::int64_t>(x.size())}, at::kDouble);
    std::ranges::copy(x, result.data_ptr<double>());
    return result.requires_grad_();
  }

  /// What the procedure steps along: the first moment after one step.
  at::Tensor direction(const options& more = {}) const {
    models::training_options how;
    how.local_steps = 1;
    how.batch_size = 6;
    how.shuffle = false;
    how.momentum = 0.9;
    options said{{"rank", common_rank},
                 {"own_rank", own_rank},
                 {"inner_rate", inner_rate}};
    said.insert(more.begin(), more.end());
    row_list rows(12);
    std::iota(rows.begin(), rows.end(), 0u);
    const adapter_site site{{.how = how,
                             .said = said,
                             .model = model(),
                             .clients = {.train = {rows}, .test = {rows}}}};
    const auto out = site.trainer->train(site.visit(common_, keeping(own_)));
    EXPECT_TRUE(out) << out.error().context;
    const auto found = out->next.moments.at("adapter.first").own_view();
    return in_double({found.begin(), found.end()}).detach();
  }

  std::string path_ = ::testing::TempDir() + "troupe_two_levels.pt";
  std::shared_ptr<models::dataset> data_ = test::small_dataset(
    {.shape = {length, width}, .classes = classes, .size = 12});
  std::vector<float> common_ = factors(common_rank, 1);
  std::vector<float> own_ = factors(own_rank, 2);
  reference reference_{*data_};
  at::Tensor x_ = in_double(common_), y_ = in_double(own_);
};

/// Four clients, whose examples are sequences laid out flat.
constexpr std::string_view transformer_run = R"(
name = "small"
method = "pf2lora"
rounds = 2
ledger = "memory"
events = false
[data]
kind = "synthetic"
dimension = 40
[model]
kind = "torchscript"
[clients]
clients = 4
clients_per_round = 4
[partition]
kind = "natural"
samples_per_client = 30
[pace]
mode = "sync"
[training]
local_steps = 3
batch_size = 8
learning_rate = 0.05
[options]
rank = 2
own_rank = 1
)";

} // namespace

// Specification, 10.6: four bytes a parameter of the common adapter each way,
// and the frame, whatever it is that clients keep.
TEST_F(two_level_transformer, sends_the_common_adapter_and_nothing_else) {
  const scratch_folder scratch;
  constexpr std::uint64_t visits = 8;
  constexpr std::uint64_t common =
    4 * std::size(adapted) * common_rank * 2 * width;
  const auto described = [&](overrides changes) {
    changes.push_back("model.path=" + path_);
    return configured(transformer_run, changes, scratch.path());
  };
  const auto sent = [&](const overrides& changes) {
    const auto end =
      finished(described(changes), node::models_by(*troupe_torch()));
    return std::pair{end.bytes_up / visits, end.bytes_down / visits};
  };
  const auto bytes = sent({});
  EXPECT_GT(bytes.first, common);
  EXPECT_LT(bytes.first, common + 400);
  EXPECT_GT(bytes.second, common);
  EXPECT_LT(bytes.second, common + 400);
  for (const auto* same :
       {"own_rank=4", "training.optimiser=adamw", "method=homlora"})
    EXPECT_EQ(sent({same}), bytes) << same;
  const auto work =
    node::prepare(described({}), node::models_by(*troupe_torch()));
  ASSERT_TRUE(work) << work.error().context;
  ASSERT_EQ(work->blocks->blocks.size(), 1u);
  const auto& tensors = work->blocks->blocks.front().tensors;
  EXPECT_EQ(tensors.size(), 2 * std::size(adapted));
  for (const auto& x : tensors)
    EXPECT_EQ(x.shape, (std::vector{common_rank, width})) << x.name;
}

TEST_F(two_level_transformer, steps_along_the_gradient_through_the_inner_step) {
  using at::Tensor;
  const auto f = [&](const Tensor& x, const Tensor& y, const row_list& rows) {
    return reference_.loss(x, y, rows);
  };
  const auto along_y = reference::slope(f(x_, y_, inner), y_);
  const auto through =
    reference::slope(f(x_, y_ - inner_rate * along_y, outer), x_);
  // Specification, 2.1: first ones at the new y, the mixed one at the old.
  const auto moved = (y_ - inner_rate * along_y).detach().requires_grad_();
  const auto first = reference::slope(f(x_, moved, outer), x_).detach();
  const auto v = reference::slope(f(x_, moved, outer), moved).detach();
  const auto mixed = reference::slope((along_y * v).sum(), x_).detach();
  EXPECT_LT(relative_error(first - inner_rate * mixed, through), 1e-12);
  const auto beside = [&](double by) {
    const auto y = (y_ + by * v).detach();
    return reference::slope(f(x_, y, inner), x_).detach();
  };
  constexpr double step = 1e-4;
  const auto difference = (beside(step) - beside(-step)) / (2 * step);
  EXPECT_LT(relative_error(first - inner_rate * difference, through), 1e-6);
  // The procedure's floats.
  const auto error = relative_error(direction(), through);
  RecordProperty("relative_error_in_float", ::testing::PrintToString(error));
  EXPECT_LT(error, 1e-6);
  EXPECT_LT(relative_error(direction({{"first_order", 1}}), first), 1e-6);
  EXPECT_GT(relative_error(first, through), 0.01) << "the second order matters";
}

TEST_F(two_level_transformer, adapts_queries_and_values_of_a_script) {
  const auto script = model();
  const auto plan =
    models::planned(script->parameter_list(), {.rank = common_rank});
  ASSERT_EQ(plan.matrices.size(), std::size(adapted));
  const row_list rows{0, 3, 5};
  const auto logits = [&] {
    std::vector<float> said(rows.size() * classes);
    EXPECT_TRUE(script->outputs()->say(models::split::train, rows, said));
    return said;
  };
  const auto base = script->initial_parameters(1);
  const auto with = [&](const std::vector<float>& adapter) {
    const auto arithmetic = models::cpu();
    const std::span<const float> values[] = {adapter};
    constexpr double one[] = {1};
    EXPECT_TRUE((models::adapter_mixture{plan, *arithmetic}.compose(
      base, values, one, script->parameters())));
    return logits();
  };
  std::ranges::copy(base, script->parameters().begin());
  const auto plain = logits();
  EXPECT_EQ(with(models::initial_adapter(plan, 3)), plain) << "to the bit";
  // What was composed are plain weights: two paths give the same outputs.
  const auto merged = with(common_);
  EXPECT_NE(merged, plain);
  const auto nothing = at::zeros({y_.size(0)}, at::kDouble);
  const auto expected =
    reference_.logits(x_, nothing, rows).detach().contiguous();
  for (std::size_t j = 0; j < merged.size(); ++j)
    EXPECT_NEAR(merged[j], expected.data_ptr<double>()[j], 1e-5);
}

} // namespace troupe::test::two_level_test
