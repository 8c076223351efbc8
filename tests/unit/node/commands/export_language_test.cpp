// A language model that a run trained becomes a folder, and that a base.

#include "node/commands/export_language.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "models/inner_setup.hpp"
#include "models/language/base.hpp"
#include "models/language/names.hpp"
#include "node/commands/export.hpp"
#include "node/config/config.hpp"
#include "node/task/language_model.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test {

namespace {

struct exported_language : ::testing::Test {
  exported_language() {
    x.data.kind = node::data_options::format::language;
    x.data.tokenizer = "bytes";
    x.data.context = 8;
    x.model.kind = node::model_options::shape::language;
    x.model.layers = 2;
    x.model.embedding = 8;
    x.model.heads = 2;
    const auto base = node::base_of(x, 257);
    EXPECT_TRUE(base) << base.error().context;
    what.tensors = (*base)->tensors();
    values = (*base)->values();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] += static_cast<float>(i) / 1024;
    what.values = values;
  }

  std::string to() const {
    return at.path() + "/model";
  }

  scratch_folder at;
  node::experiment x;
  models::tensor_file what;
  std::vector<float> values;
};

std::vector<float> some_factors(std::size_t size) {
  std::vector<float> all(size);
  for (std::size_t i = 0; i < size; ++i)
    all[i] = static_cast<float>(i % 7) / 8;
  return all;
}

void add_products(const models::adapter_plan& plan,
                  const std::vector<float>& of, std::vector<float>& to) {
  for (const auto& m : plan.matrices)
    for (std::size_t i = 0; i < m.rows; ++i)
      for (std::size_t j = 0; j < m.columns; ++j) {
        double sum = 0;
        for (std::size_t r = 0; r < m.rank; ++r)
          sum += of[m.u_at + r * m.rows + i] * of[m.v_at + r * m.columns + j];
        to[m.at + i * m.columns + j] += static_cast<float>(m.scale * sum);
      }
}

} // namespace

TEST_F(exported_language, is_the_base_of_another_run) {
  const auto done = node::put_language(x, what, to());
  ASSERT_TRUE(done) << done.error().context;
  auto other = x;
  other.model.path = to();
  const auto base = node::base_of(other, 257);
  ASSERT_TRUE(base) << base.error().context;
  EXPECT_EQ((*base)->values(), values) << "products of GPT-2 are turned twice";
  EXPECT_EQ((*base)->spec().context, 8u);
  EXPECT_FALSE(std::filesystem::exists(to() + "/tokenizer.json"));
}

TEST_F(exported_language, of_several_is_one_of_them) {
  const auto run = at.path() + "/run";
  std::filesystem::create_directories(run);
  std::ofstream{run + "/config.toml"}
    << "method = 'ifca'\nrounds = 1\n[data]\nkind = 'language'\n"
       "path = 'texts'\nusers = ['a', 'b']\ntokenizer = 'bytes'\n"
       "context = 8\n[model]\nkind = 'language'\nlayers = 2\n"
       "embedding = 8\nheads = 2\n";
  std::ofstream{run + "/summary.json"} << "{}";
  models::tensor_file both;
  for (const std::string model : {"model.0/", "model.1/"}) {
    for (auto tensor : what.tensors) {
      tensor.name.insert(0, model);
      both.tensors.push_back(std::move(tensor));
    }
    both.values.insert(both.values.end(), values.begin(), values.end());
    std::ranges::reverse(values);
  }
  const auto ok = models::write_safetensors(run + "/model.safetensors", both);
  ASSERT_TRUE(ok) << ok.error().context;
  std::ostringstream out, err;
  const std::vector<std::string> said{run, "--block", "model.1", "--to", to()};
  ASSERT_EQ(node::export_command(said, {out, err}), node::exit_code::ok)
    << err.str();
  std::ranges::reverse(values);
  const auto read = models::open_base(to(), models::base_storage::f32);
  ASSERT_TRUE(read) << "no folder of a model: " << read.error().context;
  EXPECT_EQ((*read)->values(), values);
}

TEST_F(exported_language, has_its_tokenizer_with_it) {
  std::filesystem::create_directories(at.path() + "/words");
  // What it is to say: 257 tokens, as of bytes.
  std::ofstream{at.path() + "/words/vocab.txt"} << [] {
    std::string text = "[UNK]\n";
    for (int i = 1; i < 257; ++i)
      text += "w" + std::to_string(i) + '\n';
    return text;
  }();
  x.data.tokenizer = at.path() + "/words";
  const auto done = node::put_language(x, what, to());
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_TRUE(std::filesystem::exists(to() + "/vocab.txt"));
}

// What stands beside a product is added to its weights, and no run's file has
// those.
TEST_F(exported_language, has_its_common_adapter_in_its_weights) {
  x.method = "homlora";
  const auto base = node::base_of(x, 257);
  ASSERT_TRUE(base) << base.error().context;
  const auto plans = models::inner_plans_over(
    (*base)->tensors(), *node::all_methods().find(x.method), x.training.method,
    x.model.adapt);
  ASSERT_TRUE(plans && plans->adapter);
  const auto& plan = *plans->adapter;
  std::vector<float> adapter(plan.size());
  const auto unchanged = node::merged_language(x, {.adapter = adapter});
  ASSERT_TRUE(unchanged) << unchanged.error().context;
  EXPECT_EQ(unchanged->values, (*base)->values());
  adapter = some_factors(plan.size());
  auto expected = (*base)->values();
  add_products(plan, adapter, expected);
  const auto merged = node::merged_language(x, {.adapter = adapter});
  ASSERT_TRUE(merged) << merged.error().context;
  EXPECT_THAT(merged->values,
              ::testing::Pointwise(::testing::FloatNear(1e-5f), expected));
  EXPECT_NE(merged->values, (*base)->values());
  const auto done = node::put_language(x, *merged, to());
  ASSERT_TRUE(done) << done.error().context;
  const auto read = models::open_base(to(), models::base_storage::f32);
  ASSERT_TRUE(read) << read.error().context;
  EXPECT_EQ((*read)->values(), merged->values);
}

TEST_F(exported_language, has_what_is_apart_beside_attention_in_them_too) {
  x.method = "hetlora";
  x.training.method = {{"plain_attention", 1}, {"adapted", 1}, {"rank", 2}};
  const auto base = node::base_of(x, 257);
  ASSERT_TRUE(base) << base.error().context;
  const auto plans = models::inner_plans_over(
    (*base)->tensors(), *node::all_methods().find(x.method), x.training.method,
    x.model.adapt);
  ASSERT_TRUE(plans && plans->adapter && plans->attention);
  const auto adapter = some_factors(plans->adapter->size());
  const auto attention = some_factors(plans->attention->size());
  auto expected = (*base)->values();
  add_products(*plans->adapter, adapter, expected);
  add_products(*plans->attention, attention, expected);
  const auto merged =
    node::merged_language(x, {.adapter = adapter, .attention = attention});
  ASSERT_TRUE(merged) << merged.error().context;
  EXPECT_THAT(merged->values,
              ::testing::Pointwise(::testing::FloatNear(1e-5f), expected));
  EXPECT_FALSE(node::merged_language(x, {.adapter = adapter}));
}

TEST_F(exported_language, is_merged_with_the_adapter_of_its_run_alone) {
  x.method = "homlora";
  const std::vector<float> three(3);
  const auto other = node::merged_language(x, {.adapter = three});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().context,
              ::testing::HasSubstr("the adapter has 3 values"));
  x.data.text_task = models::text_task::classify;
  const auto labels = node::merged_language(x, {.adapter = three});
  ASSERT_FALSE(labels);
  EXPECT_THAT(labels.error().context,
              ::testing::HasSubstr("says what a row is as a whole"));
}

TEST_F(exported_language, is_refused_where_a_tensor_is_missing) {
  what.values.resize(what.values.size() - what.tensors.back().size());
  what.tensors.pop_back();
  const auto done = node::put_language(x, what, to());
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().context,
              ::testing::HasSubstr("what the run learned"));
}

} // namespace troupe::test
