// How many experts clients have, as a configuration says.

#include "node/task/experts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/tasks/quadratic.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/paper_model.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::test::experts_test {

namespace {

using ::testing::HasSubstr;
using counts = std::vector<std::uint32_t>;

/// Of three clients, of whom the second has no rows that are set aside.
struct scene {
  explicit scene(const std::string& name)
    : method(*policies::find_recipe(name)) {
    x.method = name;
    x.training.method = with_defaults(method, {{"rank", 2}});
    clients.train = {{0, 1}, {4, 5}, {8, 9}};
    clients.own_validation = {{2}, {}, {10}};
    x.places = {.origin = "a.toml", .said = {{"training.experts", "a.toml:3"}}};
  }

  result<counts> found() const {
    const paper_model model{test::small_gpt2()};
    const auto plans =
      models::inner_plans_for(method, model, x.training.method, {});
    EXPECT_TRUE(plans) << plans.error().context;
    return node::experts_for(x, method, *plans, clients, users);
  }

  std::string refused() const {
    const auto y = found();
    EXPECT_FALSE(y);
    if (y)
      return {};
    EXPECT_EQ(y.error().code, errc::invalid_config);
    return y.error().context;
  }

  recipe method;
  node::experiment x;
  models::partition clients;
  std::vector<std::string> users;
};

} // namespace

TEST(experts_for, are_those_that_are_said) {
  scene x{"comigs"};
  x.clients.own_validation[1] = {6};
  EXPECT_EQ(x.found().value(), counts{});
  x.x.training.experts = {2, 8, 1};
  EXPECT_EQ(x.found().value(), (counts{2, 8, 1}));
  x.x.training.experts = {9};
  EXPECT_EQ(x.refused(),
            "a.toml:3: 'training.experts' has 9, and a client of method "
            "'comigs' has 1 to 8 experts; 8 or fewer would do");
  x.x.training.experts = {2, 0};
  EXPECT_EQ(x.refused(),
            "a.toml:3: 'training.experts' has 0, and a client of method "
            "'comigs' has 1 to 8 experts; 1 or more would do");
  EXPECT_EQ(scene{"homlora"}.found().value(), counts{});
}

TEST(experts_for, say_ranks_of_methods_that_have_these_in_their_place) {
  for (const auto* name : {"hetlora", "flexlora"}) {
    scene x{name};
    EXPECT_EQ(x.found().value(), counts{}) << "nobody says any";
    x.x.training.experts = {4, 2, 2};
    EXPECT_EQ(x.refused(), "a.toml:3: 'training.experts' says ranks of method '"
                             + std::string{name}
                             + "' where 'options.rank_per_expert' is above 0, "
                               "and it is 0; 1 or more there, or no "
                               "'experts', would do");
    x.x.training.method["rank_per_expert"] = 2;
    x.x.training.method["rank"] = 8;
    EXPECT_EQ(x.found().value(), (counts{4, 2, 2}));
    x.x.training.method["rank"] = 4;
    EXPECT_EQ(x.refused(), "a.toml:3: 'training.experts' has 4, which is rank "
                           "8 by 'options.rank_per_expert', and "
                           "'options.rank' is 4; 'rank' = 8, or at most 2 "
                           "here, would do");
  }
}

// Of rank 2 in two layers of 8 x 24, 8 x 8, 8 x 12 and 12 x 8.
constexpr double attention = 2 * 2 * (32 + 16) * 16;
constexpr double expert = 2 * 2 * (20 + 20) * 16;
constexpr double mib = 1 << 20;

TEST(experts_for, are_as_many_as_memory_holds) {
  scene x{"pfedmoe"};
  x.x.training.optimiser = models::optimiser_kind::adamw;
  x.x.training.expert_memory = {(attention + 2.5 * expert) / mib,
                                (attention + expert) / mib, 1};
  EXPECT_EQ(x.found().value(), (counts{2, 1, 8}));
  x.x.training.expert_memory = {attention / mib};
  EXPECT_EQ(x.refused(),
            "a.toml: 'training.expert_memory' has "
              + std::to_string(attention / mib)
              + " MiB, which hold no expert with its moments and its gradient "
                "beside what attention has; more, or a smaller 'rank', would "
                "do");
}

TEST(experts_for, need_validation_rows_where_routers_learn_from_these) {
  scene x{"comigs"};
  EXPECT_EQ(x.refused(),
            "a.toml: method 'comigs' trains routers on validation rows, and "
            "client 2 has none; a larger 'validation_share', or "
            "options.router_data = \"training\", would do");
  x.users = {"", "user 'it' of texts"};
  EXPECT_THAT(x.refused(), HasSubstr("client 2 (user 'it' of texts) has none"));
  x.x.training.experts = {2, 1}; // It has no router.
  EXPECT_TRUE(x.found());
  x.x.training.experts = {};
  x.x.training.method["router_data"] = 1;
  EXPECT_TRUE(x.found());
  EXPECT_TRUE(scene{"pfedmoe"}.found());
  // Who has no rows at all has them elsewhere.
  scene afar{"comigs"};
  afar.clients.train[1].clear();
  EXPECT_TRUE(afar.found());
}

// One is the top two of one, whatever says that there is one.
TEST(experts_for, are_said_to_have_no_router_where_each_client_has_one) {
  const auto said = [](const scene& y) {
    return node::about_routers(y.x, y.method, y.found().value());
  };
  for (const std::string name : {"comigs", "pfedmoe", "comigs_2s"}) {
    SCOPED_TRACE(name);
    scene x{name};
    x.clients.own_validation[1] = {6};
    const std::string alone = name == "comigs_2s"
                                ? "a specialist of its own"
                                : "the generalist that all have in common";
    EXPECT_EQ(said(x), "") << "two where nobody says";
    for (const auto& one : {counts{1}, counts{1, 1}}) {
      x.x.training.experts = one;
      EXPECT_EQ(said(x),
                "no client has a router: by 'training.experts' each has one "
                "expert, "
                  + alone
                  + ", and all tokens go there; two experts, or more, would "
                    "do");
    }
    x.x.training.experts = {1, 2};
    EXPECT_EQ(said(x), "") << "one has a choice";
    // Clients who bring their texts say it themselves.
    x.x.training.experts = {1};
    x.x.data.brought = true;
    EXPECT_EQ(said(x), "");
  }
  scene ranks{"hetlora"};
  ranks.x.training.method["rank_per_expert"] = 1;
  ranks.x.training.experts = {1};
  EXPECT_EQ(said(ranks), "") << "it has no experts";
}

TEST(experts_for, are_said_to_have_no_router_where_memory_holds_one) {
  scene x{"pfedmoe"};
  x.x.training.optimiser = models::optimiser_kind::adamw;
  x.x.training.expert_memory = {(attention + expert) / mib};
  ASSERT_EQ(x.found().value(), counts{1});
  EXPECT_EQ(node::about_routers(x.x, x.method, {1}),
            "no client has a router: by 'training.expert_memory' each has one "
            "expert, the generalist that all have in common, and all tokens go "
            "there; two experts, by more MiB or a smaller 'rank', would do");
  x.x.training.expert_memory.push_back((attention + 2.5 * expert) / mib);
  EXPECT_EQ(node::about_routers(x.x, x.method, x.found().value()), "");
}

TEST(experts_for, need_a_language_model) {
  const models::quadratic model{
    models::make_quadratic_problem({.dimension = 3, .clients = 2})};
  const auto found =
    models::inner_plans_for(*policies::find_recipe("comigs"), model, {}, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context,
            "method 'comigs' has several experts in each feed-forward block of "
            "a language model; model.kind = \"language\" would do");
}

} // namespace troupe::test::experts_test
