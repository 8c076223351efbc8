// What a model and its adapters begin with, as the configuration scales it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/safetensors.hpp"
#include "node/task/frozen.hpp"
#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

/// Of a family's first block.
std::vector<float> first_of(const std::string& family, const overrides& changes,
                            double model_scale = 1) {
  auto x = configured(quadratic_run, changes, {});
  x.model.init_scale = model_scale; // A key of models that need more than this.
  const auto made = node::prepare(x, no_model);
  if (!made) {
    ADD_FAILURE() << made.error().context;
    return {};
  }
  return made->initial.at(made->blocks->family(family).front()).copy();
}

float largest(const std::vector<float>& xs) {
  float most = 0;
  for (const auto x : xs)
    most = std::max(most, std::abs(x));
  return most;
}

/// Adapters over a model that nobody trains.
node::experiment over_frozen(const overrides& more) {
  overrides changes{"method=homlora",      "data.kind=low_rank",
                    "data.truth=gaussian", "model.kind=regression",
                    "model.hidden=[]",     "clients=2",
                    "clients_per_round=2"};
  changes.insert(changes.end(), more.begin(), more.end());
  return configured(quadratic_run, changes, {});
}

struct adapters_over_file : ::testing::Test {
  adapters_over_file() {
    const auto made = node::prepare(over_frozen({}), no_model);
    EXPECT_TRUE(made) << made.error().context;
    if (!made)
      return;
    model = made->blocks->frozen.at(0).tensors;
    adapter = made->blocks->find("adapter")->tensors;
  }

  /// With a file of these tensors, of which all values are one.
  result<node::workload> begun(const models::tensor_list& tensors) const {
    const std::vector<float> ones(models::size_of(tensors), 1);
    const auto ok = models::write_safetensors(path(), {tensors, ones, {}});
    EXPECT_TRUE(ok) << ok.error().context;
    return node::prepare(over_frozen({"init=" + path()}), no_model);
  }

  std::string path() const {
    return at.path() + "/first.safetensors";
  }

  scratch_folder at;
  models::tensor_list model;
  models::tensor_list adapter; ///< Named as `export --block` does.
};

bool are_ones(const shared_values& x) {
  return std::ranges::all_of(x.copy(), [](float y) { return y == 1; });
}

} // namespace

TEST_F(adapters_over_file, are_refused_where_it_has_nothing_of_theirs) {
  ASSERT_FALSE(model.empty());
  const auto refusal = [&](const models::tensor_list& tensors) {
    const auto made = begun(tensors);
    EXPECT_FALSE(made) << "a file is left out without a word";
    if (made)
      return std::string{};
    EXPECT_EQ(made.error().code, errc::invalid_config);
    return made.error().context;
  };
  const auto with = [&](const std::string& found) {
    return path() + ": has nothing that this run takes: " + found
           + ", and taken would be what begins with 'adapter/', and the "
             "model's tensors, as '"
           + model.front().name
           + "'; the model.safetensors of a run of method 'homlora' would do";
  };
  EXPECT_EQ(refusal({{"junk", {2}}, {"more", {1}}}),
            with("its first tensor is 'junk'"));
  EXPECT_EQ(refusal(adapter),
            with("its first tensor is '" + adapter.front().name + "'"));
}

TEST_F(adapters_over_file, begin_with_what_of_it_is_theirs) {
  ASSERT_FALSE(model.empty());
  auto named = adapter;
  for (auto& x : named)
    x.name = "adapter/" + x.name;
  const auto own = begun(named);
  ASSERT_TRUE(own) << own.error().context;
  EXPECT_TRUE(are_ones(own->initial.at({1})));
  EXPECT_FALSE(are_ones(own->task->frozen.at("model")));
  auto plain = model;
  plain.push_back({"junk", {2}});
  const auto base = begun(plain);
  ASSERT_TRUE(base) << base.error().context;
  EXPECT_FALSE(are_ones(base->initial.at({1})));
  EXPECT_TRUE(are_ones(base->task->frozen.at("model")));
}

TEST(first_values, of_a_model_are_scaled) {
  const auto plain = first_of("model", {});
  const auto half = first_of("model", {}, 0.5);
  ASSERT_FALSE(plain.empty());
  ASSERT_EQ(half.size(), plain.size());
  EXPECT_GT(largest(plain), 0);
  for (std::size_t i = 0; i < plain.size(); ++i)
    EXPECT_EQ(half[i], static_cast<float>(plain[i] * 0.5));
  EXPECT_EQ(largest(first_of("model", {}, 0)), 0);
}

TEST(first_values, of_a_random_factor_are_within_its_scale) {
  const auto scaled = [](const std::string& by) {
    return largest(first_of(
      "adapter", {"method=homlora", "data.kind=low_rank", "data.truth=gaussian",
                  "model.kind=regression", "model.hidden=[]", "clients=2",
                  "clients_per_round=2", "options.init_scale=" + by}));
  };
  const auto one = scaled("1");
  EXPECT_GT(one, 0);
  EXPECT_NEAR(scaled("2"), 2 * one, 1e-6);
}

TEST(first_values, that_are_clients_own_and_all_the_same_are_of_the_run) {
  const auto seed_of = [](const std::string& seed) {
    const auto made =
      node::prepare(configured(quadratic_run, {"seed=" + seed}, {}), no_model);
    EXPECT_TRUE(made) << made.error().context;
    return made ? made->task->first_seed : 0;
  };
  EXPECT_EQ(seed_of("3"), derive_seed(3, "initial"));
  EXPECT_NE(seed_of("4"), seed_of("3"));
}

TEST(first_values, of_what_adapters_stand_on_are_in_the_layout) {
  const auto made = node::prepare(over_frozen({}), no_model);
  ASSERT_TRUE(made) << made.error().context;
  ASSERT_TRUE(made->blocks);
  ASSERT_EQ(made->blocks->frozen.size(), 1u);
  EXPECT_EQ(made->blocks->frozen[0].name, "model");
  EXPECT_EQ(made->blocks->frozen[0].content,
            node::frozen_digests(*made).at("model"));
  EXPECT_EQ(made->task->blocks.fingerprint(), made->blocks->fingerprint());
}

} // namespace troupe::test
