// Files that have more than the model has that they say they are.

#include "models/language/unread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/language/base.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::unread_test {

namespace {

/// A tensor beside those of a model.
struct beside {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// What is said of a folder with all tensors of a model, and some beside.
std::string refusal(const language_spec& x, const std::vector<beside>& more) {
  const test::scratch_folder folder;
  auto tensors = tensors_of(x);
  for (auto& tensor : tensors)
    if (source_of(x, weights_format::safetensors, tensor.name).transposed)
      std::ranges::reverse(tensor.shape);
  auto values = test::counted_values(x);
  for (const auto& y : more) {
    tensors.push_back({y.name, y.shape});
    values.resize(values.size() + tensors.back().size(), 1);
  }
  EXPECT_TRUE(write_model_folder(folder.path(), config_of(x), tensors, values));
  const auto found = open_base(folder.path(), base_storage::f32);
  if (found)
    return "read";
  EXPECT_EQ(found.error().code, errc::invalid_data);
  EXPECT_EQ(found.error().context.substr(0, folder.path().size()),
            folder.path());
  return found.error().context.substr(folder.path().size());
}

} // namespace

TEST(unread_tensors, of_layers_are_refused_by_name) {
  const auto why = " would be left out, and llama, 2 layers of 8, 4 heads over "
                   "2, 11 tokens has no such tensors in its layers: without "
                   "them it would say something else; the config.json of these "
                   "files, or a model of an architecture that is read would "
                   "do";
  EXPECT_EQ(refusal(test::small_llama(),
                    {{"model.layers.0.self_attn.q_proj.bias", {16}}}),
            std::string{": 'model.layers.0.self_attn.q_proj.bias'"} + why);
  // Whatever is left out before a name; by name, and not all of them.
  EXPECT_EQ(refusal(test::small_llama(),
                    {{"layers.1.self_attn.q_norm.weight", {4}},
                     {"layers.0.mlp.up_proj.bias", {12}},
                     {"model.layers.0.self_attn.k_proj.bias", {8}},
                     {"model.layers.2.input_layernorm.weight", {8}},
                     {"layers.0.self_attn.v_proj.bias", {8}}}),
            std::string{": 'layers.0.mlp.up_proj.bias', "
                        "'layers.0.self_attn.v_proj.bias', "
                        "'layers.1.self_attn.q_norm.weight' and 2 more"}
              + why);
  EXPECT_NE(
    refusal(test::small_bert(),
            {{"bert.encoder.layer.0.attention.self.distance_embedding.weight",
              {31, 4}}}),
    "read");
  EXPECT_NE(refusal(test::small_gpt2(),
                    {{"h.0.crossattention.c_attn.weight", {8, 16}}}),
            "read");
}

TEST(unread_tensors, of_layers_are_refused_of_gguf_too) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/x.gguf";
  const auto x = test::small_llama();
  auto file = test::keys_of_small_llama();
  for (const auto& tensor : tensors_of(x))
    file.tensor(source_of(x, weights_format::gguf, tensor.name).name,
                tensor.shape, std::vector<float>(tensor.size(), 1));
  file.tensor("blk.1.attn_q_norm.weight", {4}, std::vector<float>(4, 1));
  file.write(path);
  const auto found = open_base(path, base_storage::f32);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context.substr(0, path.size() + 29),
            path + ": 'blk.1.attn_q_norm.weight' ");
}

TEST(unread_tensors, that_layers_do_not_compute_with_may_be_there) {
  EXPECT_EQ(
    refusal(test::small_gpt2(), {{"transformer.h.0.attn.bias", {1, 1, 16, 16}},
                                 {"h.1.attn.bias", {1, 1, 16, 16}},
                                 {"h.1.attn.masked_bias", {1}}}),
    "read");
  EXPECT_EQ(refusal(test::small_llama(),
                    {{"model.layers.0.self_attn.rotary_emb.inv_freq", {2}},
                     {"lm_head.weight", {11, 8}}}),
            "read");
}

TEST(unread_tensors, that_are_of_no_layer_may_be_there) {
  EXPECT_EQ(
    refusal(test::small_bert(), {{"bert.embeddings.position_ids", {1, 16}},
                                 {"bert.pooler.dense.weight", {8, 8}},
                                 {"bert.pooler.dense.bias", {8}},
                                 {"cls.seq_relationship.weight", {2, 8}},
                                 {"cls.predictions.decoder.weight", {11, 8}}}),
    "read");
  EXPECT_EQ(refusal(test::small_roberta(),
                    {{"roberta.embeddings.position_ids", {1, 18}},
                     {"lm_head.decoder.weight", {11, 8}},
                     {"lm_head.decoder.bias", {11}},
                     {"roberta.pooler.dense.weight", {8, 8}}}),
            "read");
  EXPECT_EQ(refusal(test::small_deberta(),
                    {{"deberta.embeddings.position_ids", {1, 16}},
                     {"mask_predictions.dense.weight", {8, 8}},
                     {"mask_predictions.classifier.bias", {1}}}),
            "read");
}

} // namespace troupe::models::unread_test
