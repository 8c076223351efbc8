// Runs with real models: the laws of tests/unit/node/run/ hold for torch as
// well.

#include <cstddef>
#include <string>

#include <gtest/gtest.h>
#include <torch/script.h>

#include "node/replay/replay.hpp"
#include "tests/support/dense_variants.hpp"
#include "tests/support/ended_runs.hpp"
#include "tests/support/plain_run.hpp"
#include "tests/support/torch_runs.hpp"

namespace troupe::test {

TEST_F(torch_run, under_sync_is_the_plain_loop_for_every_recipe) {
  for (const auto& variant : dense_variants()) {
    const auto x = described(variant.how);
    const auto work = torch_work(x);
    ASSERT_TRUE(work) << variant.name << ": " << work.error().context;
    expect_plain_run(x, *work, variant.name);
  }
}

TEST_F(torch_run, learns_the_same_with_any_workers_clock_and_evaluation) {
  const auto after = [&](overrides how, const overrides& more) {
    how.insert(how.end(), more.begin(), more.end());
    return ended(described(how), torch_work);
  };
  for (const auto& [name, method, how] : dense_variants()) {
    SCOPED_TRACE(name);
    const auto wanted = after(how, {});
    // Who watches rows looks at some version.
    for (const auto& more :
         {overrides{"workers=1", needs_rows_aside(method) ? "evaluate_every=3"
                                                          : "evaluate_every=0"},
          overrides{"clock=wall", "events=true"}}) {
      const auto found = after(how, more);
      EXPECT_EQ(found.digest, wanted.digest) << more[0];
      if (method.offers || method.personal)
        expect_kept(found.kept, wanted.kept);
    }
  }
  const auto buffered = under("fedbuff");
  auto alone = buffered;
  alone.push_back("workers=1");
  EXPECT_EQ(go(buffered).digest, go(alone).digest);
}

// With composed ones: replay_test, over quadratics.
TEST_F(torch_run, of_factors_inside_is_computed_again_in_every_pace) {
  std::size_t turn = 0;
  for (const auto& [name, method, how] : inside_variants()) {
    ++turn; // Two paces under each clock, and under the other one the next
            // time.
    for (const auto pace : {pace_kind::sync, pace_kind::semisync,
                            pace_kind::fedbuff, pace_kind::fedasync}) {
      ++turn;
      if (policies::standing_of(method, pace) == standing::refused)
        continue;
      auto changes = under(policies::to_string(pace), how);
      changes.insert(changes.end(), {turn % 2 ? "clock=wall" : "clock=virtual",
                                     "events=true"});
      SCOPED_TRACE(name + " " + ::testing::PrintToString(changes));
      expect_computed_again(ended(described(changes), torch_work), torch_work,
                            pace == pace_kind::sync);
    }
  }
}

TEST_F(torch_run, scores_clients_at_home) {
  const auto shared = go({});
  ASSERT_TRUE(shared.per_client);
  ASSERT_TRUE(shared.accuracy);
  EXPECT_LE(shared.per_client->worst, shared.per_client->p10);
  EXPECT_LE(shared.per_client->p10, shared.per_client->p90);
  // Who keeps a model is scored with that, and not with the first one of all.
  const auto alone = go({"method=local", "rounds=9", "learning_rate=0.2"});
  ASSERT_TRUE(alone.per_client);
  EXPECT_FALSE(alone.accuracy);
  EXPECT_EQ(alone.versions, 0u);
  const auto untrained = go({"method=local", "rounds=9", "learning_rate=1e-9"});
  EXPECT_GT(alone.per_client->mean, untrained.per_client->mean + 0.1);
}

TEST_F(torch_run, scores_who_was_held_out_apart) {
  const auto x = go({"held_out=3", "rounds=4"});
  ASSERT_TRUE(x.held_out);
  EXPECT_FALSE(go({}).held_out);
}

TEST_F(torch_run, stops_by_validation_data_and_keeps_the_best_version) {
  const auto x = go(
    {"rounds=200", "stop.metric=loss", "stop.patience=3", "stop.target=0.001"});
  EXPECT_LT(x.versions, 200u);
  EXPECT_EQ(x.reason, "no better version within the patience; the target, "
                      "0.001, was not reached");
  ASSERT_TRUE(x.best);
  EXPECT_EQ(x.best->head.value + 3, x.versions);
  EXPECT_TRUE(std::filesystem::exists(x.folder + "/best.safetensors"));
  const auto reached =
    go({"rounds=200", "stop.metric=accuracy", "stop.target=0.3"});
  EXPECT_LT(reached.versions, 200u);
  EXPECT_EQ(reached.reason, "the target is reached");
  EXPECT_EQ(go({"rounds=2", "stop.metric=loss", "stop.target=0.001"}).reason,
            "the run's length is reached; the target, 0.001, was not reached");
}

TEST_F(torch_run, learns_scales_of_batch_norms_whose_statistics_are_anybodys) {
  torch::jit::Module norm{"norm"};
  norm.register_parameter("weight", at::ones({8}).requires_grad_(), false);
  norm.register_parameter("bias", at::zeros({8}).requires_grad_(), false);
  norm.register_buffer("mean", at::zeros({8}));
  norm.register_buffer("var", at::ones({8}));
  torch::jit::Module script{"with_batch_norm"};
  script.register_attribute("training", c10::BoolType::get(), true);
  script.register_module("norm", norm);
  const auto add = [&](const char* name, std::vector<std::int64_t> shape) {
    auto x = at::empty(shape);
    random_stream draws{static_cast<std::uint64_t>(x.numel())};
    for (std::int64_t i = 0; i < x.numel(); ++i)
      x.data_ptr<float>()[i] = static_cast<float>(draws.normal() / 3);
    script.register_parameter(name, x.requires_grad_(), false);
  };
  add("first", {8, 6});
  add("last", {10, 8});
  script.define(R"(
def forward(self, x):
    y = torch.linear(x, self.first)
    n = self.norm
    y = torch.batch_norm(y, n.weight, n.bias, n.mean, n.var, self.training, 0.1, 1e-5, False)
    return torch.linear(torch.relu(y), self.last)
)");
  const auto path = scratch_.path() + "/model.pt";
  script.save(path);
  for (const std::string where : {"average", "local"}) {
    const auto after = [&](const overrides& more) {
      overrides all{"method=floral",      "model.kind=torchscript",
                    "model.path=" + path, "buffers=" + where,
                    "adapter_norm=1",     "clients_per_round=8"};
      all.insert(all.end(), more.begin(), more.end());
      return go(all);
    };
    const auto first = after({"rounds=1"});
    const auto trained = after({"rounds=40"});
    EXPECT_GT(trained.per_client->mean, first.per_client->mean + 0.1) << where;
    const auto without = after({"rounds=40", "adapter_norm=0"});
    EXPECT_NE(trained.digest, without.digest);
    EXPECT_LT(without.bytes_up, trained.bytes_up);
    // A router that learns alone leaves statistics as they are.
    EXPECT_EQ(
      after({"rounds=2", "stateless=1", "warm_passes=2", "warm_rate=1e-30"})
        .digest,
      after({"rounds=2", "stateless=1"}).digest)
      << where;
    EXPECT_GT(
      after({"rounds=40", "warm_passes=2", "stateless=1"}).per_client->mean,
      first.per_client->mean + 0.1)
      << where;
  }
}

TEST_F(torch_run, is_computed_again_from_its_record) {
  torch::jit::Module script{"with_dropout"};
  script.register_attribute("training", c10::BoolType::get(), true);
  script.register_parameter("w", at::zeros({10, 6}).requires_grad_(), false);
  script.define(R"(
def forward(self, x):
    return torch.linear(torch.dropout(x, 0.5, self.training), self.w)
)");
  const auto path = scratch_.path() + "/model.pt";
  script.save(path);
  for (const overrides& model :
       {overrides{"model.kind=mlp"},
        overrides{"model.kind=torchscript", "model.path=" + path}})
    for (const std::string mode : {"sync", "fedbuff"}) {
      auto changes = under(mode, model);
      changes.push_back("events=true");
      const auto done = go(changes);
      const auto loaded = node::load_config(done.folder + "/config.toml");
      ASSERT_TRUE(loaded) << loaded.error().context;
      const auto again =
        node::replay(loaded->x, done.folder,
                     {.make_model = node::models_by(*troupe_torch()),
                      .note = [](const auto&) {},
                      .show = [](const auto&) {}});
      ASSERT_TRUE(again) << again.error().context;
      EXPECT_GT(again->digests.total, 9u);
      EXPECT_EQ(again->digests.equal, again->digests.total)
        << model[0] << " " << mode << ": " << again->digests.first->what;
    }
}

} // namespace troupe::test
