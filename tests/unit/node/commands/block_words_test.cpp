// What is said beside the tensors of one block.

#include "node/commands/block_words.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "tests/support/scratch_folder.hpp"

namespace troupe::test::block_words_test {

namespace {

using words = std::map<std::string, std::string>;

struct block_words : ::testing::Test {
  block_words() {
    x.model.kind = node::model_options::shape::language;
  }

  words said() const {
    return node::words_of_block(x, at.path(), block);
  }

  /// Of a linear layer with factors of this rank.
  void add(const std::string& layer, std::int64_t rank) {
    block.push_back({layer + ".u", {rank, 96}});
    block.push_back({layer + ".v", {rank, 32}});
  }

  scratch_folder at;
  node::experiment x;
  models::tensor_list block;
};

} // namespace

TEST_F(block_words, have_what_products_count) {
  add("a.weight", 4);
  x.method = "comigs";
  x.training.method = {{"rank", 4}, {"alpha", 16}, {"alpha_over", 1}};
  EXPECT_EQ(said(), (words{{"scale", "8.0"}}));
  x.training.method["alpha_over"] = 0;
  EXPECT_EQ(said(), (words{{"scale", "4.0"}}));
  x.method = "pf2lora";
  x.training.method = {{"rank", 4}};
  EXPECT_EQ(said(), (words{{"scale", "1.0"}}));
  block.erase(block.begin()); // One factor travels, as of FFA-LoRA.
  EXPECT_EQ(said(), (words{{"scale", "1.0"}}));
}

TEST_F(block_words, have_it_of_each_product_where_ranks_differ) {
  add("a.weight", 4);
  add("b.weight", 16);
  x.method = "homlora";
  x.training.method = {
    {"rank", 16}, {"attention_rank", 4}, {"alpha", 16}, {"alpha_over", 1}};
  EXPECT_EQ(said(),
            (words{{"scale.a.weight", "8.0"}, {"scale.b.weight", "4.0"}}));
  // Factors of kernels have more than the rank that is said.
  x.model.kind = node::model_options::shape::mlp;
  EXPECT_EQ(said(), (words{{"scale", "4.0"}}));
}

TEST_F(block_words, have_labels_in_the_order_of_a_heads_rows) {
  block = {{"head.weight", {2, 8}}, {"head.bias", {2}}};
  x.method = "pf2lora";
  EXPECT_EQ(said(), words{}) << "there is no summary";
  std::ofstream{at.path() + "/summary.json"} << R"({"labels":["b","a\"c"]})";
  EXPECT_EQ(said(), (words{{"labels", R"(["b","a\"c"])"}}));
  block = {{"a.weight", {2, 8}}};
  EXPECT_EQ(said(), words{}) << "nothing here says which label a row has";
}

} // namespace troupe::test::block_words_test
