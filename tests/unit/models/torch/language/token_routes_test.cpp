// Where tokens of clients' test rows go, looked at in the plain loop.

#include "models/token_routes.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backend.hpp"
#include "models/inner_setup.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/paper_model.hpp"
#include "tests/support/routed_federation.hpp"

namespace troupe::test {

namespace {

constexpr std::size_t layers = 2; // Of the tiny model.

/// A federation after a few rounds, and a model to look with.
struct looked_at {
  explicit looked_at(const routed_setting& x) : of(x), model(of.make(nullptr)) {
    auto arithmetic = kernels::make_backend({});
    EXPECT_TRUE(arithmetic) << arithmetic.error().context;
    at = std::make_unique<models::local_site>(
      std::make_shared<const models::local_task>(of.task()),
      std::move(*arithmetic));
  }

  std::map<client_id, models::token_routes> look() {
    models::evaluation_input x{.versions = of.visit(1, 1).fetched,
                               .states = {}};
    for (std::uint64_t k = 1; k <= routed_federation::clients; ++k)
      if (auto state = of.loop().state({k}))
        x.states.emplace(client_id{k}, std::move(state));
    auto found = models::routes_at_home(x, *at, *model);
    EXPECT_TRUE(found) << found.error().context;
    return found ? std::move(*found)
                 : std::map<client_id, models::token_routes>{};
  }

  routed_federation of;
  std::unique_ptr<models::objective> model;
  std::unique_ptr<models::local_site> at;
};

} // namespace

TEST(token_routes, are_of_test_rows_and_of_the_first_of_them) {
  auto how = routed_setting_of("comigs", often());
  how.experts = {2, 2, 3};
  looked_at testee{how};
  testee.of.round();
  const auto found = testee.look();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found.at({1}).experts, 2u);
  EXPECT_EQ(found.at({3}).experts, 3u);
  EXPECT_EQ(found.at({3}).steps, 4u);
  // The model is the last client's still.
  const auto& last = found.at({3});
  const auto& rows = testee.of.task().clients.test[2];
  std::vector<double> firsts(layers);
  std::size_t tokens = 0;
  for (const auto row : rows) {
    const auto window =
      *testee.model->inside()->routes(models::split::test, row);
    if (row == rows.front()) {
      EXPECT_EQ(last.window, window);
    }
    const auto each = window.size() / layers;
    tokens += each;
    for (std::size_t i = 0; i < window.size(); ++i)
      firsts[i / each] += window[i] == 0 ? 1 : 0;
  }
  ASSERT_EQ(last.first_places.size(), layers);
  ASSERT_EQ(last.mean_of_first.size(), layers);
  for (std::size_t i = 0; i < layers; ++i) {
    EXPECT_NEAR(last.first_places[i], firsts[i] / static_cast<double>(tokens),
                1e-9);
    EXPECT_GT(last.mean_of_first[i], 0);
    EXPECT_LT(last.mean_of_first[i], 1);
  }
}

TEST(token_routes, are_the_same_whoever_was_looked_at_before) {
  auto how = routed_setting_of("comigs", often());
  how.experts = {2, 3, 4};
  looked_at testee{how};
  testee.of.round();
  const auto once = testee.look();
  const auto again = testee.look();
  for (const auto& [client, x] : once) {
    EXPECT_EQ(again.at(client).mean_of_first, x.mean_of_first);
    EXPECT_EQ(again.at(client).window, x.window);
  }
}

// One that has no router is no client without a preference.
TEST(token_routes, are_of_clients_with_a_router_alone) {
  auto how = routed_setting_of("comigs", often());
  how.experts = {1, 2, 2};
  looked_at testee{how};
  EXPECT_TRUE(testee.look().empty());
  testee.of.round({1, 2});
  const auto found = testee.look();
  EXPECT_EQ(found.size(), 1u);
  EXPECT_TRUE(found.contains({2}));
}

TEST(token_routes, are_of_methods_with_routers) {
  const auto routes = [](const std::string& method) {
    models::local_task task{.method = *policies::find_recipe(method),
                            .blocks = {},
                            .how = {},
                            .clients = {}};
    const paper_model model{test::tiny_spec(test::tiny_gpt2)};
    auto plans = models::inner_plans_for(task.method, model, {{"rank", 2}}, {});
    EXPECT_TRUE(plans) << method << plans.error().context;
    if (plans)
      task.inside = std::move(*plans);
    return models::routes_tokens(task);
  };
  for (const auto* method : {"comigs", "comigs_2g", "comigs_2s", "pfedmoe"})
    EXPECT_TRUE(routes(method)) << method;
  for (const auto* method : {"fedavg_lora", "local_lora", "pf2lora", "fedavg"})
    EXPECT_FALSE(routes(method)) << method;
}

} // namespace troupe::test
