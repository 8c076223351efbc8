// Models as llama.cpp's converter writes them, beside their folders. Names are
// written out: what is read under a name of ours alone is read by nobody else.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/language/base.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::gguf_base_test {

namespace {

using test::counted_values;
using test::gguf_by_hand;

constexpr base_storage storages[]{base_storage::f32, base_storage::bf16,
                                  base_storage::as_stored};

/// From names of transformers to those of GGUF, without ".weight" and ".bias";
/// of layers, without what stands before.
using renamings = std::vector<std::pair<std::string, std::string>>;

struct converted_names {
  std::string layer; ///< "transformer.h."
  renamings layers, others;
};

const converted_names gpt2_names{
  .layer = "transformer.h.",
  .layers = {{"ln_1", "attn_norm"},
             {"attn.c_attn", "attn_qkv"},
             {"attn.c_proj", "attn_output"},
             {"ln_2", "ffn_norm"},
             {"mlp.c_fc", "ffn_up"},
             {"mlp.c_proj", "ffn_down"}},
  .others = {{"transformer.wte", "token_embd"},
             {"transformer.wpe", "position_embd"},
             {"transformer.ln_f", "output_norm"},
             {"lm_head", "output"}}};

/// @param model "bert" or "roberta"
converted_names encoder_names(const std::string& model) {
  const auto at = model + ".embeddings.";
  return {.layer = model + ".encoder.layer.",
          .layers = {{"attention.self.query", "attn_q"},
                     {"attention.self.key", "attn_k"},
                     {"attention.self.value", "attn_v"},
                     {"attention.output.dense", "attn_output"},
                     {"attention.output.LayerNorm", "attn_output_norm"},
                     {"intermediate.dense", "ffn_up"},
                     {"output.dense", "ffn_down"},
                     {"output.LayerNorm", "layer_output_norm"}},
          .others = {{at + "word_embeddings", "token_embd"},
                     {at + "position_embeddings", "position_embd"},
                     {at + "token_type_embeddings", "token_types"},
                     {at + "LayerNorm", "token_embd_norm"}}};
}

/// All names of a model of these layers, with their endings.
std::map<std::string, std::string> all_names(const converted_names& x,
                                             std::uint32_t layers) {
  std::map<std::string, std::string> out;
  for (const auto* ending : {".weight", ".bias"}) {
    for (const auto& [ours, theirs] : x.others)
      out[ours + ending] = theirs + ending;
    for (std::uint32_t i = 0; i < layers; ++i)
      for (const auto& [ours, theirs] : x.layers)
        out[x.layer + std::to_string(i) + '.' + ours + ending] =
          "blk." + std::to_string(i) + '.' + theirs + ending;
  }
  return out;
}

struct named_values {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// What a file has of a model: rows are outputs, which GPT-2's own are not.
std::vector<named_values> converted(const language_spec& x,
                                    const std::vector<float>& values,
                                    const converted_names& names) {
  const auto all = all_names(names, x.layers);
  std::vector<named_values> out;
  auto at = values.begin();
  for (const auto& tensor : tensors_of(x)) {
    const auto size = static_cast<std::ptrdiff_t>(tensor.size());
    out.push_back({all.at(tensor.name), tensor.shape, {at, at + size}});
    at += size;
  }
  return out;
}

named_values& tensor_in(std::vector<named_values>& in,
                        const std::string& name) {
  return *std::ranges::find(in, name, &named_values::name);
}

/// @param kind "gpt2" or "bert"
gguf_by_hand keys_of(const std::string& kind, const language_spec& x) {
  gguf_by_hand to;
  to.text("general.architecture", kind);
  to.text("general.name", "small");
  to.count(kind + ".block_count", x.layers);
  to.count(kind + ".context_length", x.context);
  to.count(kind + ".embedding_length", x.width);
  to.count(kind + ".feed_forward_length", x.inner);
  to.count(kind + ".attention.head_count", x.heads);
  to.real(kind + ".attention.layer_norm_epsilon",
          static_cast<float>(x.epsilon));
  to.count("general.file_type", 0);
  if (x.begin_token)
    to.count("tokenizer.ggml.bos_token_id", *x.begin_token);
  if (x.end_token)
    to.count("tokenizer.ggml.eos_token_id", *x.end_token);
  if (x.pad_token)
    to.count("tokenizer.ggml.padding_token_id", *x.pad_token);
  return to;
}

void write(const std::string& path, gguf_by_hand file,
           const std::vector<named_values>& tensors) {
  for (const auto& x : tensors)
    file.tensor(x.name, x.shape, x.values);
  file.write(path);
}

void expect_same(const std::string& path, const std::string& folder) {
  for (const auto how : storages) {
    const auto found = open_base(path, how);
    ASSERT_TRUE(found) << found.error().context;
    const auto wanted = open_base(folder, how);
    ASSERT_TRUE(wanted) << wanted.error().context;
    EXPECT_EQ((*found)->spec(), (*wanted)->spec());
    EXPECT_EQ((*found)->tensors(), (*wanted)->tensors());
    EXPECT_EQ((*found)->values(), (*wanted)->values());
  }
}

language_spec gpt2_with_ids() {
  auto x = test::small_gpt2();
  x.begin_token = x.end_token = 10;
  return x;
}

language_spec roberta_without_head() {
  auto x = test::small_roberta();
  x.has_head = x.head_bias = false;
  return x;
}

/// As it is converted: it counts places from 0, and rows before those of its
/// first place are gone.
language_spec roberta_as_bert() {
  auto x = roberta_without_head();
  x.kind = architecture_kind::bert;
  x.first_position = 0;
  return x;
}

/// @param of its only type of tokens
std::vector<named_values>
converted_roberta(const std::vector<std::int64_t>& shape) {
  const auto x = roberta_without_head();
  auto tensors = converted(x, counted_values(x), encoder_names("roberta"));
  auto& places = tensor_in(tensors, "position_embd.weight");
  places.shape.front() -= 2;
  places.values.erase(places.values.begin(), places.values.begin() + 2 * 8);
  tensor_in(tensors, "token_types.weight").shape = shape;
  return tensors;
}

} // namespace

TEST(gguf_bases, of_gpt2_are_those_of_their_folders) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/m.gguf";
  const auto x = gpt2_with_ids();
  const auto values = counted_values(x);
  ASSERT_TRUE(write_base(folder.path() + "/m", x, values));
  const auto tensors = converted(x, values, gpt2_names);
  write(path, keys_of("gpt2", x), tensors);
  expect_same(path, folder.path() + "/m");
  const auto base = open_base(path, base_storage::f32);
  ASSERT_TRUE(base) << base.error().context;
  EXPECT_EQ((*base)->spec(), x);
  EXPECT_EQ((*base)->values(), values) << "nothing is turned twice";
}

TEST(gguf_bases, of_gpt2_may_have_a_head_or_their_table_a_second_time) {
  const test::scratch_folder folder;
  const auto tied = gpt2_with_ids();
  auto tensors = converted(tied, counted_values(tied), gpt2_names);
  ASSERT_TRUE(write_base(folder.path() + "/tied", tied, counted_values(tied)));
  // As converters did before they left it out.
  auto again = tensor_in(tensors, "token_embd.weight");
  again.name = "output.weight";
  tensors.push_back(again);
  write(folder.path() + "/twice.gguf", keys_of("gpt2", tied), tensors);
  expect_same(folder.path() + "/twice.gguf", folder.path() + "/tied");
  auto untied = tied;
  untied.tied = false;
  const auto values = counted_values(untied);
  ASSERT_TRUE(write_base(folder.path() + "/untied", untied, values));
  write(folder.path() + "/untied.gguf", keys_of("gpt2", untied),
        converted(untied, values, gpt2_names));
  expect_same(folder.path() + "/untied.gguf", folder.path() + "/untied");
}

TEST(gguf_bases, of_bert_are_those_of_their_folders) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/m.gguf";
  auto x = test::small_bert(false);
  x.pad_token = 0;
  const auto values = counted_values(x);
  ASSERT_TRUE(write_base(folder.path() + "/m", x, values));
  auto file = keys_of("bert", x);
  file.count("bert.pooling_type", 1);
  file.count("tokenizer.ggml.token_type_count", 2);
  write(path, file, converted(x, values, encoder_names("bert")));
  expect_same(path, folder.path() + "/m");
}

// What no program reads is left out of such files: a head over tokens, too.
TEST(gguf_bases, of_bert_have_hidden_states_alone) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/m.gguf";
  const auto x = test::small_bert();
  auto alone = x;
  alone.has_head = alone.head_bias = false;
  const auto values = counted_values(x);
  const std::vector<float> shared(
    values.begin(),
    values.begin() + static_cast<std::ptrdiff_t>(size_of(tensors_of(alone))));
  write(path, keys_of("bert", x),
        converted(alone, shared, encoder_names("bert")));
  const auto base = open_base(path, base_storage::f32);
  ASSERT_TRUE(base) << base.error().context;
  EXPECT_EQ((*base)->spec(), alone);
  EXPECT_EQ((*base)->values(), shared);
}

// Of a table of one row some converters, and all programs that quantise, write
// a vector.
TEST(gguf_bases, of_roberta_count_places_from_0_and_have_one_type) {
  const test::scratch_folder folder;
  const auto x = roberta_as_bert();
  const auto full = roberta_without_head();
  ASSERT_TRUE(write_base(folder.path() + "/m", full, counted_values(full)));
  // Of 11 tokens, each of 8 values, and of the first two places.
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{1, 8}, std::vector<std::int64_t>{8}}) {
    const auto path =
      folder.path() + "/" + std::to_string(shape.size()) + ".gguf";
    write(path, keys_of("bert", x), converted_roberta(shape));
    for (const auto how : storages) {
      const auto found = open_base(path, how);
      ASSERT_TRUE(found) << found.error().context;
      EXPECT_EQ((*found)->spec(), x);
      EXPECT_EQ((*found)->tensors(), tensors_of(x));
      const auto folder_base = open_base(folder.path() + "/m", how);
      ASSERT_TRUE(folder_base) << folder_base.error().context;
      auto wanted = (*folder_base)->values();
      wanted.erase(wanted.begin() + 11 * 8, wanted.begin() + 13 * 8);
      EXPECT_EQ((*found)->values(), wanted);
    }
  }
}

TEST(gguf_bases, with_a_vector_in_the_place_of_a_row_of_another_width) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/m.gguf";
  auto tensors = converted_roberta({7});
  tensor_in(tensors, "token_types.weight").values.pop_back();
  write(path, keys_of("bert", roberta_as_bert()), tensors);
  const auto x = open_base(path, base_storage::f32);
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().context,
            path
              + ": 'token_types.weight' is 7 and not 1x8, as the model's "
                "description says; files of one model would do");
}

} // namespace troupe::models::gguf_base_test
