// Visits that are computed in step on a model of torch that drops some of what
// it finds: nothing that torch keeps for a thread is one visit's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <memory>
#include <string>
#include <vector>

#include "models/local_trainer.hpp"
#include "models/torch/objective.hpp"
#include "node/task/data.hpp"
#include "node/task/inside.hpp"
#include "policies/catalogue.hpp"
#include "policies/invitations.hpp"
#include "tests/support/any_model.hpp"
#include "tests/support/dense_variants.hpp"
#include "tests/support/same_visits.hpp"
#include "tests/support/torch_runs.hpp"

namespace troupe::test::in_step_test {

namespace {

using ::testing::HasSubstr;

at::Tensor numbers(std::vector<std::int64_t> shape, std::uint64_t seed) {
  auto result = at::empty(shape);
  random_stream draws{seed};
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_ptr<float>()[i] = static_cast<float>(draws.normal() / 2);
  return result;
}

constexpr auto source = R"(
def embed(self, x):
    y = torch.relu(torch.linear(x, self.below))
    return torch.dropout(y, 0.5, self.training)

def forward(self, x):
    return torch.linear(self.embed(x), self.above)
)";

class torch_in_step : public torch_run {
protected:
  torch_in_step() {
    torch::jit::Module x{"in_step"};
    x.register_attribute("training", c10::BoolType::get(), true);
    x.register_parameter("below", numbers({8, 6}, 1).requires_grad_(), false);
    x.register_parameter("above", numbers({10, 8}, 2).requires_grad_(), false);
    x.define(source);
    x.save(path_);
  }

  static std::vector<models::visit_input>
  visits_of(const node::workload& work) {
    std::vector<models::visit_input> visits;
    for (std::uint64_t k = 1; k <= 5; ++k) {
      visits.push_back(
        {.visit = {{k}, {1}},
         .seed = 100 + k,
         .role = policies::role_of({k}, work.method.roles).value_or(0),
         .fetched = {},
         .chosen = {},
         .state = {}});
      for (const auto& [block, values] : work.initial)
        visits.back().fetched.push_back({block, {}, values});
    }
    return visits;
  }

  static std::vector<result<models::trained>>
  train(const node::workload& work, const models::objective_factory& make_model,
        const std::vector<models::visit_input>& visits, std::size_t in_step) {
    const auto trainer =
      models::local_trainers(work.task, make_model, {.most = in_step})();
    EXPECT_TRUE(trainer) << trainer.error().context;
    return (*trainer)->train(visits);
  }

  /// Gives what each comes to alone.
  static std::vector<result<models::trained>>
  expect_bits_of_each_alone(const node::workload& work,
                            const models::objective_factory& make_model,
                            const std::vector<models::visit_input>& visits) {
    auto expected = train(work, make_model, visits, 1);
    for (const auto& one : expected)
      EXPECT_TRUE(one) << one.error().context;
    expect_same(train(work, make_model, visits, 3), expected);
    return expected;
  }

  std::string path_ = scratch_.path() + "/in_step.pt";
};

} // namespace

TEST_F(torch_in_step, visits_come_to_the_bits_of_each_alone) {
  for (const auto& method : methods_of_any_model()) {
    SCOPED_TRACE(method.name);
    auto changes = small(method);
    changes.push_back("local_epochs=2");
    auto scripted = changes;
    scripted.insert(scripted.end(),
                    {"model.kind=torchscript", "model.path=" + path_});
    models::model_config kind{.kind = models::model_kind::torchscript,
                              .path = path_};
    auto x = described(scripted);
    auto work = node::prepare(x, node::models_by(*troupe_torch()));
    if (!work) { // Several models that begin as one file would never part.
      EXPECT_THAT(work.error().context,
                  HasSubstr("begin with the same values"));
      kind = {.kind = models::model_kind::mlp, .hidden = {7}};
      x = described(changes);
      work = node::prepare(x, node::models_by(*troupe_torch()));
    }
    ASSERT_TRUE(work) << work.error().context;
    const auto data = node::load_data(x);
    ASSERT_TRUE(data) << data.error().context;
    const auto shared = std::make_shared<models::dataset>(*data);
    const auto make_model = [&] {
      return models::make_torch_objective(kind, shared);
    };
    expect_bits_of_each_alone(*work, make_model, visits_of(*work));
  }
}

TEST_F(torch_in_step, visits_with_factors_inside_do_so_too) {
  for (const auto& variant : inside_variants()) {
    SCOPED_TRACE(variant.name);
    auto changes = variant.how;
    changes.push_back("local_epochs=2");
    const auto x = described(changes);
    const auto work = torch_work(x);
    ASSERT_TRUE(work) << work.error().context;
    const auto data = node::load_data(x);
    ASSERT_TRUE(data) << data.error().context;
    const auto shared = std::make_shared<models::dataset>(*data);
    const auto make_model = [&] {
      return troupe_torch()->make_inner(
        {.kind = models::model_kind::mlp, .hidden = {7}}, shared,
        node::base_of(*work->task));
    };
    auto visits = visits_of(*work);
    const auto left = expect_bits_of_each_alone(*work, make_model, visits);
    // Once more, with something of their own.
    for (std::size_t i = 0; i < visits.size(); ++i) {
      visits[i].visit.number = {2};
      visits[i].state =
        std::make_shared<const models::client_state>(left[i].value().next);
    }
    expect_bits_of_each_alone(*work, make_model, visits);
  }
}

} // namespace troupe::test::in_step_test
