// What a configuration makes of a method with experts: the base is a frozen
// part of the layout, and visits are of language models.

#include <gmock/gmock.h>

#include <string>

#include "node/config/config.hpp"
#include "node/task/workload.hpp"
#include "tests/support/language_runs.hpp"

namespace troupe::test {

namespace {

using ::testing::ElementsAre;

struct routed_workload : texts_of_users {
  node::experiment described(const std::string& method,
                             const std::string& training = {},
                             const std::string& data = {}) const {
    const auto text =
      "rounds = 1\nmethod = '" + method
      + "'\n[data]\nkind = 'language'\npath = '" + users()
      + "'\nusers = ['de', 'fr', 'nl']\ntokenizer = 'bytes'\n"
        "context = 8\nvalidation_share = 0.2\ntest_share = 0.2\n"
      + data
      + "[model]\nkind = 'language'\nlayers = 1\nembedding = 8\nheads = 2\n"
        "[training]\nlocal_steps = 2\nbatch_size = 2\nbatches = 'anywhere'\n"
        "optimiser = 'adamw'\n"
      + training + "[options]\nrank = 2\n";
    const auto found = node::parse_config({text, "a.toml"});
    EXPECT_TRUE(found) << found.error().context;
    return found ? found->x : node::experiment{};
  }
};

} // namespace

TEST_F(routed_workload, has_its_base_in_the_layout_and_visits_that_learn) {
  for (const std::string method :
       {"comigs", "comigs_2g", "comigs_2s", "pfedmoe"}) {
    SCOPED_TRACE(method);
    const auto work = prepared(
      described(method, method == "comigs_2g" ? "" : "experts = [2, 1, 4]\n"));
    ASSERT_TRUE(work) << work.error().context;
    ASSERT_EQ(work->blocks->frozen.size(), 1u);
    EXPECT_EQ(work->blocks->frozen[0].name, "model");
    EXPECT_NE(work->blocks->frozen[0].content, models::digest{});
    EXPECT_TRUE(work->task->frozen.empty());
    EXPECT_EQ(work->initial.size(), work->blocks->blocks.size());
    const auto trainer = work->make_trainer();
    ASSERT_TRUE(trainer) << trainer.error().context;
    for (std::uint64_t k = 1; k <= 3; ++k) {
      models::visit_input in{.visit = {{k}, {1}},
                             .seed = k,
                             .fetched = {},
                             .chosen = {},
                             .state = {}};
      for (const auto& [id, values] : work->initial)
        in.fetched.push_back({.block = id, .base = {}, .values = values});
      const auto found = (*trainer)->train(in);
      ASSERT_TRUE(found) << found.error().context;
      EXPECT_GT(found->loss, 0);
      EXPECT_EQ(found->parts.size(),
                work->method.offers ? work->blocks->blocks.size() : 0u);
    }
  }
}

TEST_F(routed_workload, has_another_layout_over_another_base) {
  auto x = described("comigs");
  const auto one = prepared(x);
  ASSERT_TRUE(one) << one.error().context;
  EXPECT_THAT(one->task->experts, ElementsAre());
  const auto again = prepared(x);
  ASSERT_TRUE(again);
  EXPECT_EQ(one->blocks->fingerprint(), again->blocks->fingerprint());
  x.seed += 1;
  const auto other = prepared(x);
  ASSERT_TRUE(other);
  EXPECT_NE(one->blocks->fingerprint(), other->blocks->fingerprint());
}

// No rows are nobody's.
TEST_F(routed_workload, stops_by_what_clients_set_aside_alone) {
  using enum node::stop_options::metric_kind;
  auto x = described("comigs");
  x.stop = {.metric = clients_perplexity, .target = 20};
  EXPECT_TRUE(prepared(x));
  x.stop.metric = loss;
  const auto refused = prepared(x);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
    refused.error().context,
    "a.toml: 'stop' watches validation data, and this data has none to set "
    "aside");
}

TEST_F(routed_workload, of_texts_in_one_place_scores_each_user) {
  const auto x = described("centralised_lora", "", "pooled = true\n");
  ASSERT_EQ(x.clients.clients, 1u);
  const auto work = prepared(x);
  ASSERT_TRUE(work) << work.error().context;
  const auto& users = work->task->clients.users_test;
  ASSERT_EQ(users.size(), 3u);
  const auto trainer = work->make_trainer();
  ASSERT_TRUE(trainer) << trainer.error().context;
  models::evaluation_input in{.versions = {}, .per_client = true, .states = {}};
  for (const auto& [id, values] : work->initial)
    in.versions.push_back({.block = id, .base = {}, .values = values});
  const auto found = (*trainer)->evaluate(in);
  ASSERT_TRUE(found) << found.error().context;
  ASSERT_EQ(found->per_client.size(), 3u);
  for (const auto& [user, own] : found->per_client)
    EXPECT_EQ(own.count, users[user.value - 1].size() * x.data.context);
}

} // namespace troupe::test
