#include "tests/support/config_text.hpp"

#include <gmock/gmock.h>

#include "node/config/keys.hpp"

namespace troupe::node {

TEST(overrides, win_over_the_file_with_dotted_and_with_plain_keys) {
  const auto x = read("rounds = 3\n[pace]\nbuffer_size = 5\n",
                      {"pace.buffer_size=6", "buffer_size=7", "seed=11"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.pace.buffer_size, 7u);
  EXPECT_EQ(x->x.seed, 11u);
}

TEST(overrides, the_keys_that_people_type_blind_are_plain) {
  for (const auto* key : {"seed",
                          "name",
                          "method",
                          "clock",
                          "workers",
                          "evaluate_every",
                          "init",
                          "common",
                          "rounds",
                          "versions",
                          "updates",
                          "time_budget",
                          "mode",
                          "buffer_size",
                          "concurrency",
                          "refill",
                          "quorum",
                          "over_selection",
                          "round_deadline",
                          "window_seconds",
                          "staleness",
                          "staleness_max",
                          "clients",
                          "clients_per_round",
                          "fraction",
                          "alpha",
                          "local_epochs",
                          "local_steps",
                          "batch_size",
                          "learning_rate",
                          "server_learning_rate",
                          "async_target",
                          "exponent",
                          "metric",
                          "target",
                          "patience",
                          "model",
                          "data",
                          "clip_norm"})
    EXPECT_EQ(meanings(key).size(), 1u) << key;
}

TEST(overrides, take_bare_words_tables_and_lists) {
  const auto x = read("versions = 3",
                      {"mode=fedbuff", "name=7", "model.hidden=[3, 4]",
                       "stop={metric='loss', patience=2}", "augment=crop_flip",
                       "crop=2", "mean=[0.25, 0, 1e-3]", "deviation=[2, 3]",
                       "staleness=constant", "clients=30"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.pace.mode, pace_kind::fedbuff);
  EXPECT_EQ(x->x.name, "7");
  EXPECT_THAT(x->x.model.hidden, ::testing::ElementsAre(3, 4));
  EXPECT_THAT(x->x.data.pixels.mean, ::testing::ElementsAre(0.25, 0, 1e-3));
  EXPECT_EQ(x->x.data.pixels.crop, 2u);
  EXPECT_THAT(x->x.data.pixels.deviation, ::testing::ElementsAre(2, 3));
  EXPECT_EQ(x->x.stop.patience, 2u);
  EXPECT_EQ(x->x.pace.staleness.kind, staleness_options::shape::constant);
  EXPECT_EQ(x->x.clients.clients, 30u);
}

TEST(overrides, take_the_place_of_the_other_of_a_pair) {
  const auto x =
    read("rounds = 3\nclients_per_round = 5\n", {"versions=4", "fraction=0.2"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.length.rounds, 0u);
  EXPECT_EQ(x->x.length.versions, 4u);
  EXPECT_EQ(x->x.clients.clients_per_round, 2u);
}

TEST(overrides, that_are_no_limit_leave_the_other_one) {
  const auto x = read("rounds = 3\n", {"versions=0"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.length.rounds, 3u);
}

// A layer may be called so.
TEST(overrides, take_a_number_for_a_word) {
  EXPECT_TRUE(read("rounds = 3\n", {"model.adapt=0"}));
  EXPECT_FALSE(read("rounds = 3\n[model]\nadapt = 0\n", {}));
}

TEST(overrides, of_a_number_mean_its_rule) {
  const auto x = read("rounds = 3\npartition = {kind = 'iid'}", {"alpha=0.1"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.partition.kind, partition_options::rule::dirichlet);
  EXPECT_EQ(x->x.partition.alpha, 0.1);
}

TEST(overrides, reach_the_options_of_a_method) {
  const auto x = read("rounds = 3\nmethod = 'fedprox'", {"proximal=1"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.training.method.at("proximal"), 1.0);
}

TEST(overrides, are_named_by_errors) {
  EXPECT_EQ(
    refusal("rounds = 3", {"buffer_size=0"}),
    "--set buffer_size=0: 'buffer_size' must be an integer from 1 to 4096, "
    "found 0");
  EXPECT_EQ(refusal("rounds = 3", {"path=x"}),
            "--set path=x: 'path' may mean 'data.path', 'model.path', "
            "'devices.speed.path' or 'availability.path': write one of these");
  EXPECT_EQ(refusal("rounds = 3", {"sed=1"}),
            "--set sed=1: unknown key 'sed'; did you mean 'seed'?");
  EXPECT_EQ(refusal("rounds = 3", {"seed"}),
            "--set seed: it must be key=value");
  EXPECT_EQ(
    refusal("rounds = 3", {"clients_per_round=11"}),
    "--set clients_per_round=11: 'clients_per_round' must be at most 10, the "
    "clients that can be invited, found 11");
}

// Who refuses a key later begins with its place.
TEST(overrides, and_lines_are_the_places_of_keys) {
  const auto x = read("rounds = 3\n[training]\nlocal_steps = 2", {"seed=4"});
  ASSERT_TRUE(x) << x.error().context;
  const auto& at = x->x.places;
  EXPECT_EQ(at.of("rounds"), "a.toml:1: ");
  EXPECT_EQ(at.of("training.local_steps"), "a.toml:3: ");
  EXPECT_EQ(at.of("seed"), "--set seed=4: ");
  EXPECT_EQ(at.of("model.adapt"), "a.toml: ") << "nobody said it";
  EXPECT_EQ(experiment{}.places.of("seed"), "") << "nobody read it";
}

} // namespace troupe::node
