#include "models/language/base.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/bf16.hpp"
#include "models/safetensors.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::base_test {

namespace {

using test::counted_values;
using test::small_bert;
using test::small_deberta;
using test::small_gpt2;
using test::small_llama;
using test::small_roberta;
using ::testing::HasSubstr;

/// The parts of a flat buffer, by name.
std::map<std::string, std::vector<float>>
parts_of(const language_spec& x, const std::vector<float>& values) {
  std::map<std::string, std::vector<float>> out;
  auto at = values.begin();
  for (const auto& tensor : tensors_of(x)) {
    const auto size = static_cast<std::ptrdiff_t>(tensor.size());
    out[tensor.name] = {at, at + size};
    at += size;
  }
  return out;
}

std::string refusal(const std::filesystem::path& path,
                    base_storage how = base_storage::f32) {
  const auto x = open_base(path, how);
  if (x)
    return "read";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

/// Some tensors of a model, under names of their own.
struct changed_model {
  tensor_list tensors;
  std::vector<float> values;

  void add(const std::string& name, std::vector<std::int64_t> shape,
           std::vector<float> with) {
    tensors.push_back({name, std::move(shape)});
    values.insert(values.end(), with.begin(), with.end());
  }

  void write(const std::filesystem::path& to, const language_spec& x) const {
    std::filesystem::create_directories(to);
    ASSERT_TRUE(write_model_folder(to, config_of(x), tensors, values));
  }
};

/// @param rename what a tensor is called in the file; empty: left out
template <class Rename>
changed_model renamed(const language_spec& x, const Rename& rename) {
  changed_model out;
  const auto all = parts_of(x, counted_values(x));
  for (const auto& tensor : tensors_of(x))
    if (const auto name = rename(tensor.name); !name.empty())
      out.add(name, tensor.shape, all.at(tensor.name));
  return out;
}

/// `small_llama` as GGUF has it: rows of q and k as pairs.
void write_gguf(const std::string& path, const std::vector<float>& values) {
  const auto x = small_llama();
  auto file = test::keys_of_small_llama();
  const auto all = parts_of(x, values);
  for (const auto& tensor : tensors_of(x)) {
    const auto source = source_of(x, weights_format::gguf, tensor.name);
    auto there = all.at(tensor.name);
    const auto wide = static_cast<std::size_t>(tensor.shape.back());
    for (std::size_t h = 0; h < source.interleaved; ++h)
      // Rows 0, 1, 2, 3 of a head of four lie as 0, 2, 1, 3.
      std::swap_ranges(there.begin() + static_cast<long>((4 * h + 1) * wide),
                       there.begin() + static_cast<long>((4 * h + 2) * wide),
                       there.begin() + static_cast<long>((4 * h + 2) * wide));
    file.tensor(source.name, tensor.shape, there);
  }
  file.write(path);
}

} // namespace

TEST(language_base, reads_what_was_written_of_every_kind) {
  const test::scratch_folder folder;
  int count = 0;
  for (const auto& x : {small_gpt2(), small_llama(), small_bert(),
                        small_bert(false), small_roberta(), small_deberta()}) {
    const auto path = folder.path() + "/" + std::to_string(count++);
    const auto values = counted_values(x);
    ASSERT_TRUE(write_base(path, x, values));
    const auto base = open_base(path, base_storage::f32);
    ASSERT_TRUE(base) << base.error().context;
    EXPECT_EQ((*base)->spec(), x);
    EXPECT_EQ((*base)->tensors(), tensors_of(x));
    EXPECT_EQ((*base)->values(), values) << name_of(x.kind);
    EXPECT_EQ((*base)->bytes(), values.size() * sizeof(float));
    EXPECT_FALSE((*base)->is_made());
  }
}

TEST(language_base, turns_products_of_gpt2_that_lie_the_other_way_round) {
  const test::scratch_folder folder;
  const auto x = small_gpt2();
  const auto values = counted_values(x);
  ASSERT_TRUE(write_base(folder.path(), x, values));
  const auto file = read_safetensors(folder.path() + "/model.safetensors");
  ASSERT_TRUE(file) << file.error().context;
  const std::string name = "transformer.h.1.attn.c_attn.weight";
  const tensor_list wanted{tensor_spec{name, {8, 24}}}; // Inputs come first.
  const auto there = values_of(*file, wanted, "the file");
  ASSERT_TRUE(there) << there.error().context;
  const auto ours = parts_of(x, values).at(name);
  for (std::size_t output = 0; output < 24; ++output)
    for (std::size_t input = 0; input < 8; ++input)
      ASSERT_EQ((*there)[input * 24 + output], ours[output * 8 + input]);
  EXPECT_EQ(open_base(folder.path(), base_storage::f32).value()->values(),
            values);
}

TEST(language_base, undoes_the_pairs_of_a_llama_in_gguf) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/m.gguf";
  const auto values = counted_values(small_llama());
  write_gguf(path, values);
  for (const auto how : {base_storage::f32, base_storage::as_stored}) {
    const auto base = open_base(path, how);
    ASSERT_TRUE(base) << base.error().context;
    EXPECT_EQ((*base)->spec(), small_llama());
    EXPECT_EQ((*base)->values(), values);
  }
  // Of what is as it is stored, moved rows and vectors alone are copies.
  const auto at = places_of(small_llama());
  std::uint64_t own = 0;
  const auto all = tensors_of(small_llama());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].shape.size() == 1 || i == at.layers[0].query
        || i == at.layers[0].key || i == at.layers[1].query
        || i == at.layers[1].key)
      own += all[i].size() * sizeof(float);
  EXPECT_EQ(open_base(path, base_storage::as_stored).value()->bytes(), own);
}

TEST(language_base, is_read_once_in_a_process) {
  const test::scratch_folder folder;
  const auto x = small_bert(false);
  ASSERT_TRUE(write_base(folder.path(), x, counted_values(x)));
  const auto first = open_base(folder.path(), base_storage::f32).value();
  const auto second =
    open_base(folder.path() + "/../"
                + std::filesystem::path{folder.path()}.filename().string(),
              base_storage::f32)
      .value();
  EXPECT_EQ(first.get(), second.get()) << "one file under two names";
  const auto other = open_base(folder.path(), base_storage::bf16).value();
  EXPECT_NE(first.get(), other.get()) << "kept otherwise";
}

TEST(language_base, is_read_anew_when_nobody_has_it_any_more) {
  const test::scratch_folder folder;
  const auto x = small_bert(false);
  auto values = counted_values(x);
  ASSERT_TRUE(write_base(folder.path(), x, values));
  EXPECT_EQ(open_base(folder.path(), base_storage::f32).value()->values(),
            values);
  values[3] = 7;
  ASSERT_TRUE(write_base(folder.path(), x, values));
  EXPECT_EQ(open_base(folder.path(), base_storage::f32).value()->values(),
            values);
}

TEST(language_base, has_a_content_that_differs_by_a_bit_and_by_storage) {
  const test::scratch_folder folder;
  const auto x = small_llama();
  auto values = counted_values(x);
  const auto write = [&](const std::string& name) {
    const auto path = folder.path() + "/" + name;
    EXPECT_TRUE(write_base(path, x, values));
    return path;
  };
  const auto first = write("first");
  const auto same = write("same");
  values[100] = std::nextafter(values[100], 1e9f);
  const auto other = write("other");
  const auto content = [](const std::string& path, base_storage how) {
    return to_hex(open_base(path, how).value()->content());
  };
  const auto ours = content(first, base_storage::f32);
  EXPECT_EQ(content(same, base_storage::f32), ours);
  EXPECT_NE(content(other, base_storage::f32), ours);
  EXPECT_NE(content(first, base_storage::bf16), ours);
  EXPECT_NE(content(first, base_storage::as_stored), ours);
  EXPECT_EQ(to_hex(make_base(x, counted_values(x))->content()), ours)
    << "its file lies as it does";
}

TEST(language_base, rounds_products_to_sixteen_bits_and_no_vectors) {
  const test::scratch_folder folder;
  const auto x = small_gpt2();
  auto values = counted_values(x);
  for (auto& v : values)
    v += 1.f / 3;
  ASSERT_TRUE(write_base(folder.path(), x, values));
  const auto base = open_base(folder.path(), base_storage::bf16);
  ASSERT_TRUE(base) << base.error().context;
  std::size_t at = 0;
  for (std::size_t i = 0; i < (*base)->tensors().size(); ++i) {
    const auto& tensor = (*base)->tensors()[i];
    std::vector<float> found(tensor.size());
    (*base)->read_rows(i, 0, found);
    const bool is_vector = tensor.shape.size() == 1;
    EXPECT_EQ((*base)->at(i).type,
              is_vector ? stored_type::f32 : stored_type::bf16);
    for (std::size_t j = 0; j < found.size(); ++j, ++at)
      ASSERT_EQ(found[j],
                is_vector ? values[at] : from_bf16(to_bf16(values[at])));
  }
  const auto wide = std::size_t{8}; // Of the table of tokens.
  std::vector<float> row(wide);
  (*base)->read_rows(0, 10, row);
  EXPECT_EQ(row[1], from_bf16(to_bf16(values[10 * wide + 1])));
  EXPECT_EQ((*base)->rows(0), 11u);
  EXPECT_EQ((*base)->columns(0), wide);
}

TEST(language_base, leaves_a_head_that_its_description_ties) {
  const test::scratch_folder folder;
  const auto x = small_llama();
  auto file = renamed(x, [](const std::string& name) { return name; });
  file.add("lm_head.weight", {11, 8}, std::vector<float>(88, 5));
  file.write(folder.path(), x);
  const auto base = open_base(folder.path(), base_storage::f32);
  ASSERT_TRUE(base) << base.error().context;
  EXPECT_EQ((*base)->values(), counted_values(x));
  auto untied = x;
  untied.tied = false;
  file.write(folder.path() + "/untied", untied);
  const auto other = open_base(folder.path() + "/untied", base_storage::f32);
  ASSERT_TRUE(other) << other.error().context;
  EXPECT_EQ((*other)->values().size(), counted_values(x).size() + 88);
  EXPECT_EQ((*other)->values().back(), 5);
}

TEST(language_base, knows_the_names_of_other_releases) {
  const test::scratch_folder folder;
  const auto x = small_bert();
  renamed(x, [](std::string name) {
    if (name.starts_with("bert."))
      name.erase(0, 5);
    if (name.ends_with("LayerNorm.weight"))
      name.replace(name.size() - 6, 6, "gamma");
    return name == "cls.predictions.bias" ? "cls.predictions.decoder.bias"
                                          : name;
  }).write(folder.path(), x);
  const auto base = open_base(folder.path(), base_storage::f32);
  ASSERT_TRUE(base) << base.error().context;
  EXPECT_EQ((*base)->values(), counted_values(x));
}

TEST(language_base, has_hidden_states_alone_where_the_file_has_no_head) {
  const test::scratch_folder folder;
  const auto x = small_bert();
  renamed(x, [](const std::string& name) {
    return name.starts_with("cls.") ? std::string{} : name;
  }).write(folder.path(), x); // Its config.json speaks of a head.
  const auto base = open_base(folder.path(), base_storage::f32);
  ASSERT_TRUE(base) << base.error().context;
  EXPECT_EQ((*base)->spec(), small_bert(false));
}

TEST(language_base, says_what_is_there_as_whole_numbers) {
  const test::scratch_folder folder;
  const std::string name = "model.layers.1.mlp.up_proj.weight";
  const auto file = folder.path() + "/model.safetensors";
  for (const auto& stored :
       {name, name.substr(6)}) { // "model." may be left out.
    const auto x = small_llama();
    renamed(x, [&](const std::string& y) {
      return y == name ? stored : y;
    }).write(folder.path(), x);
    std::ostringstream all;
    all << std::ifstream{file, std::ios::binary}.rdbuf();
    auto bytes = std::move(all).str();
    const auto at = bytes.find("F32", bytes.find('"' + stored + '"'));
    ASSERT_NE(at, std::string::npos);
    bytes[at] = 'I';
    std::ofstream{file, std::ios::binary} << bytes;
    EXPECT_EQ(refusal(folder.path()),
              folder.path() + ": '" + name
                + "' is of whole numbers or bools, which are no weights; F32, "
                  "F16 or BF16 would do");
  }
}

TEST(language_base, refuses_what_is_not_there_or_of_another_shape) {
  const test::scratch_folder folder;
  const auto x = small_llama();
  const std::string gone = "model.layers.1.mlp.up_proj.weight";
  renamed(x, [&](const std::string& name) {
    return name == gone ? std::string{} : name;
  }).write(folder.path() + "/gone", x);
  EXPECT_EQ(refusal(folder.path() + "/gone"),
            folder.path()
              + "/gone: 'model.layers.1.mlp.up_proj.weight' is not there, "
                "which llama, 2 layers of 8, 4 heads over 2, 11 tokens has; "
                "all files of one model would do");
  auto wider = x;
  wider.inner = 13;
  std::filesystem::create_directories(folder.path() + "/wide");
  ASSERT_TRUE(write_model_folder(folder.path() + "/wide", config_of(wider),
                                 tensors_of(x), counted_values(x)));
  EXPECT_EQ(refusal(folder.path() + "/wide"),
            folder.path()
              + "/wide: 'model.layers.0.mlp.gate_proj.weight' is 12x8 and not "
                "13x8, as the model's description says; files of one model "
                "would do");
}

TEST(language_base, refuses_values_that_are_not_finite) {
  const test::scratch_folder folder;
  const auto x = small_bert(false);
  auto values = counted_values(x);
  values[20] = std::numeric_limits<float>::infinity();
  ASSERT_TRUE(write_base(folder.path() + "/endless", x, values));
  EXPECT_EQ(refusal(folder.path() + "/endless"),
            folder.path()
              + "/endless: 'bert.embeddings.word_embeddings.weight' has values "
                "that are not finite as f32; weights of a model that has not "
                "diverged would do");
  values[20] = std::numeric_limits<float>::max();
  ASSERT_TRUE(write_base(folder.path() + "/large", x, values));
  EXPECT_EQ(refusal(folder.path() + "/large"), "read");
  EXPECT_THAT(refusal(folder.path() + "/large", base_storage::bf16),
              HasSubstr("has values that are not finite as bf16"));
}

TEST(language_base, refuses_a_file_that_does_not_say_what_it_is) {
  const test::scratch_folder folder;
  const auto x = small_bert(false);
  ASSERT_TRUE(
    write_safetensors(folder.path() + "/alone.safetensors",
                      {.tensors = tensors_of(x), .values = counted_values(x)}));
  EXPECT_THAT(refusal(folder.path() + "/alone.safetensors"),
              HasSubstr("/alone.safetensors: there is no config.json, which "
                        "says what the model is; a folder with both would do"));
}

TEST(language_base, begins_as_its_authors_do) {
  auto x = small_gpt2();
  x.vocabulary = 500;
  const auto base = make_base(x, 3);
  EXPECT_TRUE(base->is_made());
  EXPECT_FALSE(make_base(x, base->values())->is_made());
  EXPECT_EQ(base->values(), initial_weights(x, 3));
  EXPECT_NE(base->values(), initial_weights(x, 4));
  const auto all = parts_of(x, base->values());
  const auto deviation = [&](const std::string& name) {
    double squares = 0;
    for (const auto v : all.at(name))
      squares += double{v} * v;
    return std::sqrt(squares / static_cast<double>(all.at(name).size()));
  };
  EXPECT_NEAR(deviation("transformer.wte.weight"), 0.02, 0.001);
  EXPECT_NEAR(deviation("transformer.h.0.mlp.c_fc.weight"), 0.02, 0.005);
  EXPECT_NEAR(deviation("transformer.h.0.mlp.c_proj.weight"), 0.01, 0.0025)
    << "of two layers: by the root of four";
  for (const auto v : all.at("transformer.h.1.ln_2.weight"))
    EXPECT_EQ(v, 1);
  for (const auto v : all.at("transformer.h.1.attn.c_attn.bias"))
    EXPECT_EQ(v, 0);
}

} // namespace troupe::models::base_test
