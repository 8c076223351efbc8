// FLoRAL's synthetic linear task, shortened: what must come out, and what must
// not.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "models/safetensors.hpp"
#include "node/replay/replay.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

class floral_run : public ::testing::Test {
protected:
  static std::string text() {
    std::ifstream file{TROUPE_SOURCE_DIR
                       "/deploy/examples/floral/synthetic_linear.toml"};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  node::run_summary after(const overrides& changes) {
    overrides all{"evaluate_every=400", "seed=4"};
    if (changes.empty() || !changes.back().starts_with("versions="))
      all.push_back("rounds=400");
    all.insert(all.end(), changes.begin(), changes.end());
    return finished(configured(text(), all, scratch_.path()));
  }

  scratch_folder scratch_;
};

double error_of(const node::run_summary& x) {
  return x.method_results.at("test_mse");
}

} // namespace

TEST_F(floral_run, solves_what_one_model_cannot) {
  const auto floral = after({});
  const auto fedavg = after({"method=fedavg"});
  const auto own = after({"method=local_adaptor"});
  EXPECT_LT(error_of(floral), 1e-3);
  EXPECT_LT(error_of(after({"method=floral_optimal"})), 1e-3);
  EXPECT_GT(error_of(fedavg), 0.3);
  EXPECT_GT(error_of(own), 0.1);
  EXPECT_EQ(floral.method_results.at("recovered"), 1);
  EXPECT_LT(floral.method_results.at("router_mismatch"), 0.5);
  // Half of the adapters that are needed: no better than one model.
  const auto half = after({"components=1"});
  EXPECT_NEAR(error_of(half), error_of(fedavg), 0.05 * error_of(fedavg));
  // Twice as many do no harm.
  EXPECT_LT(error_of(after({"components=4"})), 0.05);
}

TEST_F(floral_run, needs_a_warm_router_where_clients_forget_theirs) {
  const overrides forget{"stateless=1", "warm_rate=0.5"};
  const auto with = [&](const std::string& passes) {
    auto all = forget;
    all.push_back("warm_passes=" + passes);
    return after(all);
  };
  const auto cold = with("0");
  EXPECT_GT(error_of(cold), 0.3);
  EXPECT_EQ(cold.method_results.at("recovered"), 0);
  const auto warm = with("5");
  EXPECT_LT(error_of(warm), 0.1);
  EXPECT_EQ(warm.method_results.at("recovered"), 1);
}

TEST_F(floral_run, is_beaten_by_whole_models_at_their_price) {
  const auto ensemble = after({"method=ensemble"});
  EXPECT_LT(error_of(ensemble), 0.02);
  EXPECT_EQ(ensemble.method_results.at("recovered"), 1);
  const auto optimal = after({"method=ensemble_optimal"});
  EXPECT_LT(error_of(optimal), 1e-4);
  EXPECT_FALSE(optimal.method_results.contains("recovered"));
  const auto ifca = after({"method=ifca"});
  EXPECT_LT(error_of(ifca), 1e-3);
  EXPECT_EQ(ifca.method_results.at("recovered"), 1);
}

TEST_F(floral_run, is_not_matched_by_methods_without_clusters) {
  const auto fedavg = error_of(after({"method=fedavg"}));
  for (const std::string method : {"pfedme", "per_fedavg"})
    EXPECT_GT(error_of(after({"method=" + method, "learning_rate=0.05"})), 0.1)
      << method;
  // Two distributions, each with a model: what FedEM is made for.
  EXPECT_LT(error_of(after({"method=fedem"})), 0.1 * fedavg);
}

TEST_F(floral_run, can_begin_where_another_ended_with_as_many_adapters) {
  const auto path = after({"rounds=3"}).folder + "/model.safetensors";
  const auto begun = [&](overrides changes) {
    changes.push_back("init=" + path);
    return node::prepare(configured(text(), changes, {}), no_model);
  };
  const auto same = begun({});
  ASSERT_TRUE(same) << same.error().context;
  const auto file = models::read_safetensors(path);
  for (const auto& block : same->blocks->blocks) {
    auto named = block.tensors;
    if (block.family == "adapter")
      for (auto& x : named)
        x.name = block.name + "/" + x.name;
    EXPECT_EQ(*same->initial.at(block.id),
              models::values_of(*file, named, path).value())
      << block.name;
  }
  const auto fewer = begun({"components=1"}), more = begun({"components=3"});
  ASSERT_FALSE(fewer);
  EXPECT_NE(fewer.error().context.find(
              "has 'adapter.0', and of 'adapter' this run has 1"),
            std::string::npos)
    << fewer.error().context;
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().context.find("'adapter.2/"), std::string::npos)
    << more.error().context;
  EXPECT_TRUE(begun({"method=fedavg"})); // Which has no use for them.
}

// A client that forgot its router would begin it even, and learn otherwise.
TEST_F(floral_run, keeps_routers_over_crashes_of_their_clients) {
  const auto with = [&](overrides changes) {
    changes.emplace_back("seconds_per_step=0.01");
    changes.emplace_back("rounds=60");
    return after(changes);
  };
  const auto calm = with({});
  const auto broken =
    with({"crashes.per_hour=20000", "crashes.restart_seconds=0.05"});
  EXPECT_GT(*broken.virtual_seconds, 1.1 * *calm.virtual_seconds);
  EXPECT_EQ(broken.digest, calm.digest);
  for (const auto* name : {"router_entropy", "router_mismatch", "test_mse"})
    EXPECT_EQ(broken.method_results.at(name), calm.method_results.at(name));
  EXPECT_NE(calm.digest, with({"stateless=1"}).digest);
}

TEST_F(floral_run, refuses_ranks_that_no_layer_can_have) {
  const overrides wide{"rank=4", "rounds=2"};
  const auto done = node::run(configured(text(), wide, scratch_.path()),
                              {.make_model = no_model});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::invalid_config);
  EXPECT_EQ(
    done.error().context,
    "--set rank=4: 'options.rank' is 4, and layer 'output' is of 3 x 10; at "
    "most 3 would do");
  EXPECT_GT(error_of(after({"rank=3", "rounds=2"})), 0);
}

// One layer has no body; two have.
TEST_F(floral_run, refuses_to_split_a_model_of_one_layer) {
  const overrides split{"method=fedrep", "rounds=2"};
  const auto x = configured(text(), split, scratch_.path());
  const auto done = node::run(x, {.make_model = no_model});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::invalid_config);
  EXPECT_NE(done.error().context.find("a hidden layer would do"),
            std::string::npos);
  EXPECT_GT(error_of(after({"method=fedrep", "model.hidden=[4]", "rounds=2"})),
            0);
}

TEST_F(floral_run, solves_it_under_every_pace) {
  for (const overrides& pace :
       {overrides{"mode=fedbuff", "buffer_size=10", "versions=400"},
        overrides{"mode=fedasync", "versions=8000"},
        overrides{"mode=semisync", "window_seconds=0.1"}}) {
    const auto end = after(pace);
    EXPECT_LT(error_of(end), 0.05) << pace.front();
    EXPECT_EQ(end.method_results.at("recovered"), 1) << pace.front();
  }
}

// The record of a run says what averaging factors left out.
TEST_F(floral_run, knows_afterwards_how_far_means_of_products_were) {
  const auto gaps = [&](const overrides& changes) {
    auto all = changes;
    all.insert(all.end(), {"rounds=30", "events=true"});
    const auto done = after(all);
    const auto again = node::replay(
      node::load_config(done.folder + "/config.toml")->x, done.folder,
      {.make_model = no_model,
       .note = [](const auto&) {},
       .show = [](const auto&) {}});
    EXPECT_TRUE(again) << again.error().context;
    return again ? again->product_gap : std::map<std::string, double>{};
  };
  const auto many = gaps({});
  ASSERT_EQ(many.size(), 2u);
  EXPECT_GT(many.at("adapter.0"), 1e-4);
  EXPECT_GT(many.at("adapter.1"), 1e-4);
  for (const auto& [block, gap] : gaps({"clients_per_round=1"}))
    EXPECT_LT(gap, 1e-6) << "one offer is its own mean";
  EXPECT_TRUE(gaps({"method=fedavg"}).empty());
}

// A client's router is its own: only pi travels, beside the offers.
TEST_F(floral_run, sends_as_much_as_its_blocks_are_large) {
  using sizes = std::map<std::string, std::uint64_t>;
  const auto sent = [&](const overrides& method, const sizes& values) {
    auto all = method;
    all.push_back("rounds=5");
    const auto end = after(all);
    EXPECT_EQ(end.values, values) << method.front();
    return static_cast<double>(end.bytes_up) / static_cast<double>(end.visits);
  };
  const auto one = sent({"method=fedavg"}, {{"model", 33}});
  const auto two =
    sent({"method=floral"}, {{"adapter", 32}, {"model", 33}}) - one - 32 * 4;
  const auto three =
    sent({"method=floral", "components=3"}, {{"adapter", 48}, {"model", 33}})
    - one - 48 * 4;
  const auto whole = sent({"method=ensemble"}, {{"model", 66}}) - one - 33 * 4;
  // Beside the values there are a header of each block, as long for all, and
  // pi.
  const auto header = three - two - 8;
  EXPECT_GT(header, 0);
  EXPECT_LT(header, 100);
  EXPECT_EQ(two - header, whole);
  EXPECT_EQ(sent({"method=local_adaptor"}, {{"model", 33}}), one);
}

} // namespace troupe::test
