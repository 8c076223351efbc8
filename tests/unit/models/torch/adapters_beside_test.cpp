// Runs of methods with adapters over dense models: factors inside the layers
// come to what composed ones do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "node/task/inside.hpp"
#include "node/task/workload.hpp"
#include "tests/support/dense_variants.hpp"
#include "tests/support/plain_run.hpp"
#include "tests/support/reference_loop.hpp"
#include "tests/support/torch_runs.hpp"

namespace troupe::test::adapters_beside_test {

namespace {

constexpr std::uint64_t clients = 8;

/// Three rounds of all clients, and last visits where there are any.
struct federation {
  node::workload work;
  std::unique_ptr<models::trainer> trainer;
  std::unique_ptr<reference_loop> loop;

  explicit federation(const node::experiment& x)
    : work(torch_work(x).value()),
      trainer(work.make_trainer().value()) {
    reference_options how{.method = work.method,
                          .blocks = *work.blocks,
                          .initial = {},
                          .server = x.server,
                          .admitted = clients};
    for (const auto& [id, values] : work.initial)
      how.initial[work.blocks->find(id)->name] = values;
    loop = std::make_unique<reference_loop>(*trainer, std::move(how));
    for (std::uint64_t round = 0; round < 3; ++round) {
      std::vector<invited> all;
      for (std::uint64_t k = 1; k <= clients; ++k)
        all.push_back(
          {.client = {k},
           .seed = derive_seed(x.seed, "visit", clients * round + k)});
      const auto done = loop->round(all);
      EXPECT_TRUE(done) << done.error().context;
    }
    make_last_visits(x, work.method, 3 * clients, *loop);
  }
};

void expect_near(std::span<const float> found, std::span<const float> wanted,
                 const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], wanted[i],
                1e-5 * (1 + std::abs(static_cast<double>(wanted[i]))))
      << what << ", value " << i;
}

/// Of versions, of what clients keep, and of their scores.
void expect_alike(federation& found, federation& wanted) {
  for (const auto& x : wanted.work.blocks->blocks)
    expect_near(found.loop->values(x.name), wanted.loop->values(x.name),
                x.name);
  for (std::uint64_t k = 1; k <= clients; ++k) {
    const auto ours = found.loop->state({k}), theirs = wanted.loop->state({k});
    for (const auto& [name, values] : theirs->blocks)
      expect_near(ours->blocks.at(name).own_view(), values.own_view(),
                  name + " of client " + std::to_string(k));
  }
  const auto ours = found.loop->evaluate(true),
             theirs = wanted.loop->evaluate(true);
  ASSERT_TRUE(ours) << ours.error().context;
  ASSERT_TRUE(theirs) << theirs.error().context;
  ASSERT_GT(theirs->global.count, 0u);
  EXPECT_NEAR(ours->global.mean_loss(), theirs->global.mean_loss(), 1e-5);
  for (const auto& [client, own] : theirs->per_client)
    EXPECT_NEAR(ours->per_client.at(client).mean_loss(), own.mean_loss(), 1e-5);
}

class adapters_beside : public torch_run,
                        public ::testing::WithParamInterface<dense_variant> {};

} // namespace

TEST_P(adapters_beside, products_learn_what_composed_ones_do) {
  const auto& method = GetParam().method;
  for (const std::string kind : {"mlp", "softmax"}) {
    SCOPED_TRACE(kind);
    auto how = small_inside(method);
    how.push_back("model.kind=" + kind);
    // The preconditioner makes of what is rounded up to 1/(2 sqrt(epsilon)) as
    // much.
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"epsilon", "0.01"},
                                            {"components", "3"},
                                            {"budget", "0.4"},
                                            {"warm_passes", "1"},
                                            {"router_rate", "0.5"},
                                            {"inner_rate", "0.05"}})
      if (find_option(method, name) != nullptr)
        how.push_back("options." + name + "=" + value);
    federation inside{described(how)};
    how.push_back("model.factors=composed");
    federation composed{described(how)};
    ASSERT_EQ(inside.work.initial.size(), composed.work.initial.size());
    expect_alike(inside, composed);
    const auto& block = composed.work.blocks->blocks.front();
    const auto& first = composed.work.initial.at(block.id);
    EXPECT_FALSE(std::ranges::equal(composed.loop->values(block.name).copy(),
                                    first->copy()))
      << "all of it stood still";
  }
}

INSTANTIATE_TEST_SUITE_P(of, adapters_beside,
                         ::testing::ValuesIn(inside_variants()),
                         [](const auto& x) { return x.param.method.name; });

TEST(adapters_beside_of, all_methods_that_adapt_a_dense_model) {
  std::vector<std::string> names;
  for (const auto& x : inside_variants())
    names.push_back(x.method.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(
                       "floral", "floral_optimal", "local_adaptor", "pf2lora",
                       "homlora", "per_fedavg_lora", "hetlora", "flexlora",
                       "fdlora", "ffa_lora", "fedsa_lora", "pcl"));
}

TEST_F(torch_run, refuses_factors_inside_where_a_procedure_knows_none) {
  const auto x = described({"method=floral", "model.factors=inside"});
  auto found = node::materials_of(x, node::models_by(*troupe_torch()),
                                  node::inner_models_by(*troupe_torch()));
  ASSERT_TRUE(found) << found.error().context;
  auto work = node::prepare(x, std::move(*found));
  ASSERT_TRUE(work) << work.error().context;
  auto task = std::make_shared<models::local_task>(*work->task);
  task->method.roles.front().procedure.value = "sgd";
  const auto done = node::stand_inside(
    [](shared_values) -> result<std::unique_ptr<models::objective>> {
      return fail(errc::unsupported, "nobody asks for one");
    },
    *task);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().context,
            "procedure 'sgd' of method 'floral' trains the weights of a model, "
            "and would find factors inside its layers; model.factors = "
            "\"composed\" would do");
}

} // namespace troupe::test::adapters_beside_test
