#include <gtest/gtest.h>

#include "core/random.hpp"
#include "tests/support/config_text.hpp"

namespace troupe::node {

namespace {

/// A usable configuration with many keys away from their defaults.
std::vector<std::string> draw_overrides(std::uint64_t seed) {
  random_stream random{seed};
  const auto pick = [&](std::string key, std::vector<const char*> values) {
    return key + '=' + values[random.below(values.size())];
  };
  const auto real = [&](std::string key) {
    return key + '=' + std::to_string(0.99 * random.uniform() + 1e-3);
  };
  return {
    "clients=64",
    "clients_per_round=16",
    "held_out=" + std::to_string(random.below(8)),
    "seed=" + std::to_string(random.below(1u << 30)),
    pick("mode", {"sync", "semisync", "fedbuff"}),
    pick("staleness", {"constant", "polynomial", "hinge", "exponential"}),
    pick("staleness_max", {"0", "7"}),
    pick("selection", {"uniform", "round_robin", "by_size", "power_of_choice",
                       "oort", "least_chosen"}),
    pick("example_weight", {"n", "sqrt", "log", "equal"}),
    pick("partition", {"iid", "dirichlet", "labels", "shards", "size_skew"}),
    pick("server.optimiser", {"plain", "momentum", "adam", "yogi", "adagrad"}),
    pick("merge.rule", {"mean", "median"}),
    pick("data", {"idx", "cifar10", "csv"}),
    pick("mean", {"[]", "[0.4914, 0.4822, 0.4465]", "[1]"}),
    pick("deviation", {"[]", "[1e-7, 5]"}),
    pick("augment", {"none", "crop_flip"}),
    pick("model",
         {"softmax", "mlp", "cnn", "lenet", "vgg8", "resnet18", "resnet34"}),
    pick("model.width", {"8", "64"}),
    pick("model.norm", {"group", "batch"}),
    pick("speed", {"constant", "uniform", "half_normal", "lognormal"}),
    pick("method", {"fedavg", "fedprox"}),
    pick("attack.clients", {"0", "2"}),
    pick("events", {"true", "false"}),
    pick("events_max", {"1", "4096"}),
    pick("training.schedule.kind",
         {"constant", "cosine", "step", "exponential"}),
    "training.schedule.last=" + std::to_string(0.5 * random.uniform()),
    "often=" + std::to_string(random.below(4)),
    pick("stop.metric", {"none", "loss"}),
    "stop.target=0.25",
    "patience=3",
    real("learning_rate"),
    real("alpha"),
    real("training.momentum"),
    real("sigma"),
    real("time_budget"),
    real("exponent"),
    real("server.beta1"),
    real("scale"),
    "name=a \"quoted\\name\" \t\x7f",
    "partition.kind=iid",
  };
}

} // namespace

TEST(config_writer, what_it_writes_reads_back_as_the_same) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto x = read("versions = 5", draw_overrides(seed));
    ASSERT_TRUE(x) << x.error().context;
    const auto text = write_config(x->x);
    const auto again = read(text);
    ASSERT_TRUE(again) << again.error().context << '\n' << text;
    EXPECT_TRUE(again->notes.empty()) << again->notes.front();
    ASSERT_EQ(write_config(again->x), text);
    EXPECT_EQ(again->x.name, x->x.name);
    EXPECT_EQ(again->x.training.learning_rate, x->x.training.learning_rate);
    EXPECT_EQ(again->x.data.pixels.mean, x->x.data.pixels.mean);
    EXPECT_EQ(again->x.data.pixels.deviation, x->x.data.pixels.deviation);
    EXPECT_EQ(again->x.data.pixels.augment, x->x.data.pixels.augment);
    EXPECT_EQ(again->x.clients.held_out, x->x.clients.held_out);
    EXPECT_EQ(again->x.clients.often, x->x.clients.often);
    EXPECT_EQ(again->x.clients.often_per_round, x->x.clients.often_per_round);
    EXPECT_EQ(policies::rate_factor(again->x.training.schedule, 0.7),
              policies::rate_factor(x->x.training.schedule, 0.7));
    EXPECT_EQ(again->x.model.kind, x->x.model.kind);
    EXPECT_EQ(again->x.model.norm, x->x.model.norm);
    EXPECT_EQ(again->x.stop.target, x->x.stop.target);
    EXPECT_EQ(again->x.pace.staleness_max, x->x.pace.staleness_max);
    EXPECT_EQ(again->x.training.method, x->x.training.method);
  }
}

TEST(config_writer, writes_what_was_resolved_and_nothing_without_effect) {
  const auto x = read("rounds = 2\nclients = 40\nfraction = 0.25\n");
  ASSERT_TRUE(x);
  const auto text = write_config(x->x);
  EXPECT_NE(text.find("clients_per_round = 10\n"), std::string::npos) << text;
  EXPECT_NE(text.find("method = \"fedavg\"\n"), std::string::npos);
  EXPECT_NE(text.find("rounds = 2\n"), std::string::npos);
  EXPECT_EQ(text.find("fraction"), std::string::npos);
  EXPECT_EQ(text.find("versions"), std::string::npos);
  EXPECT_EQ(text.find("alpha = "), text.find("alpha = 0.5"))
    << "it is without effect";
}

TEST(config_writer, a_written_configuration_can_be_overridden) {
  const auto x = read("rounds = 2\nmethod = 'fedprox'\nclients = 40\n");
  ASSERT_TRUE(x);
  const auto text = write_config(x->x);
  EXPECT_EQ(refusal(text, {"versions=3", "mode=fedbuff", "method=fedavg"}), "");
}

} // namespace troupe::node
