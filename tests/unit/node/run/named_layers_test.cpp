// Runs whose adapters are on some layers of the model: how large they are, what
// is exported, that the folder repeats the run, and what is refused.

#include <gtest/gtest.h>

#include <sstream>

#include "models/safetensors.hpp"
#include "node/commands/export.hpp"
#include "node/replay/replay.hpp"
#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test::named_layers_test {

namespace {

/// A model of ten inputs, five hidden units and three targets.
constexpr std::string_view small_mixture = R"(
name = "named"
method = "floral"
rounds = 5
evaluate_every = 0
workers = 1
[data]
kind = "clusters"
[clients]
clients = 4
clients_per_round = 4
[pace]
mode = "sync"
[model]
kind = "regression"
hidden = [5]
[training]
learning_rate = 0.1
[options]
components = 2
[merge]
delta_max = 4096.0
)";

class named_layers : public ::testing::Test {
protected:
  node::experiment described(const overrides& changes) const {
    return configured(small_mixture, changes, folder());
  }

  node::run_summary go(const overrides& changes) const {
    return finished(described(changes));
  }

  std::string refusal(const overrides& changes) const {
    const auto done = node::run(described(changes), {.make_model = no_model});
    if (done)
      return {};
    EXPECT_EQ(done.error().code, errc::invalid_config);
    return done.error().context;
  }

  std::string folder() const {
    return scratch_.path() + "/runs";
  }

  scratch_folder scratch_;
};

std::vector<std::string> names_of(const models::tensor_list& xs) {
  std::vector<std::string> names;
  for (const auto& x : xs)
    names.push_back(x.name);
  return names;
}

} // namespace

TEST_F(named_layers, have_adapters_and_the_others_have_none) {
  const auto of = [&](const overrides& changes) {
    return go(changes).values.at("adapter");
  };
  const auto hidden = 1 * (10 + 5) + 5, output = 1 * (5 + 3) + 3;
  EXPECT_EQ(of({"adapt=hidden1"}), 2u * hidden);
  EXPECT_EQ(of({"adapt=output"}), 2u * output);
  EXPECT_EQ(of({}), 2u * (hidden + output));
}

TEST_F(named_layers, that_are_all_make_the_run_of_none) {
  const auto plain = go({});
  EXPECT_EQ(go({R"(adapt=["hidden1", "output"])"}).digest, plain.digest);
  EXPECT_NE(go({"adapt=output"}).digest, plain.digest);
}

TEST_F(named_layers, are_exported_as_the_base_with_their_products_alone) {
  const auto run = go({"adapt=hidden1"});
  const auto to = scratch_.path() + "/merged.safetensors";
  std::ostringstream out, err;
  const std::vector<std::string> said{run.folder,  "--merged", "--mixture",
                                      "0.25,0.75", "--to",     to};
  ASSERT_EQ(node::export_command(said, {out, err}), node::exit_code::ok)
    << err.str();
  const auto from =
    models::read_safetensors(run.folder + "/model.safetensors").value();
  const auto tensor = [](const models::tensor_file& x,
                         const std::string& name) {
    for (const auto& t : x.tensors)
      if (t.name == name)
        return models::values_of(x, {t}, "").value();
    ADD_FAILURE() << "no tensor " << name;
    return std::vector<float>{};
  };
  auto weight = tensor(from, "hidden1.weight");
  auto bias = tensor(from, "hidden1.bias");
  const float shares[] = {0.25, 0.75};
  for (std::size_t c = 0; c < 2; ++c) {
    const auto of = "adapter." + std::to_string(c) + "/hidden1.";
    const auto u = tensor(from, of + "weight.u");
    const auto v = tensor(from, of + "weight.v");
    const auto shift = tensor(from, of + "bias");
    ASSERT_EQ(u.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
      bias[i] += shares[c] * shift[i];
      for (std::size_t j = 0; j < 10; ++j)
        weight[i * 10 + j] += shares[c] * u[i] * v[j];
    }
  }
  const auto merged = models::read_safetensors(to).value();
  const auto near = [&](const std::string& name,
                        const std::vector<float>& expected) {
    const auto found = tensor(merged, name);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t j = 0; j < found.size(); ++j)
      EXPECT_NEAR(found[j], expected[j], 1e-5) << name << ' ' << j;
  };
  near("hidden1.weight", weight);
  near("hidden1.bias", bias);
  EXPECT_NE(tensor(merged, "hidden1.weight"), tensor(from, "hidden1.weight"));
  EXPECT_EQ(tensor(merged, "output.weight"), tensor(from, "output.weight"));
  EXPECT_EQ(tensor(merged, "output.bias"), tensor(from, "output.bias"));
}

TEST_F(named_layers, are_in_the_folder_which_repeats_the_run) {
  const auto first = go({"adapt=hidden1"});
  const auto said = node::load_config(first.folder + "/config.toml");
  ASSERT_TRUE(said) << said.error().context;
  EXPECT_EQ(said->x.model.adapt, std::vector<std::string>{"hidden1"});
  const auto again = node::replay(said->x, first.folder,
                                  {.make_model = no_model,
                                   .note = [](const auto&) {},
                                   .show = [](const auto&) {}});
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_GT(again->digests.total, 5u);
  EXPECT_FALSE(again->digests.first) << again->differs_at;
  EXPECT_EQ(again->product_gap.size(), 2u);
  EXPECT_EQ(finished(said->x).digest, first.digest);
}

TEST_F(named_layers, are_those_of_adapters_that_clients_keep_too) {
  const auto work = node::prepare(
    described({"method=pf2lora", "rank=2", "own_rank=1", "adapt=hidden1"}),
    no_model);
  ASSERT_TRUE(work) << work.error().context;
  const auto& task = *work->task;
  // This method adapts no biases.
  const std::vector<std::string> hidden{"hidden1.weight.u", "hidden1.weight.v"};
  EXPECT_EQ(names_of(task.adapters->tensors), hidden);
  EXPECT_EQ(names_of(task.own_adapters->tensors), hidden);
  EXPECT_EQ(task.own_adapters->size(), 10u + 5);
}

TEST_F(named_layers, that_the_model_lacks_are_refused_and_nothing_is_written) {
  EXPECT_EQ(refusal({R"(adapt=["hidden1", "query"])"}),
            "--set adapt=[\"hidden1\", \"query\"]: 'model.adapt' has 'query', "
            "and the model has no such layer; 'hidden1', 'output' would do");
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

// A rank that a layer without an adapter could not have is no matter.
TEST_F(named_layers, alone_must_be_as_wide_as_the_rank) {
  EXPECT_EQ(refusal({"rank=4"}),
            "--set rank=4: 'options.rank' is 4, and layer 'output' is of 3 x "
            "5; at most 3 would do");
  EXPECT_EQ(refusal({"rank=4", "adapt=hidden1", "rounds=1"}), "");
}

} // namespace troupe::test::named_layers_test
