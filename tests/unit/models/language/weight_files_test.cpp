#include "models/language/weight_files.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "models/safetensors.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::weight_files_test {

namespace {

constexpr const char* first_shard = "model-00001-of-00002.safetensors";
constexpr const char* second_shard = "model-00002-of-00002.safetensors";

void write(const std::string& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

/// A tensor of one value, under this name.
void write_tensor(const std::string& path, const std::string& name,
                  float value) {
  ASSERT_TRUE(
    write_safetensors(path, {.tensors = {{name, {1}}}, .values = {value}}));
}

/// A folder of "a" in the first shard and "b" in the second.
void write_shards(const std::string& folder) {
  write_tensor(folder + "/" + first_shard, "a", 1);
  write_tensor(folder + "/" + second_shard, "b", 2);
  write(folder + "/model.safetensors.index.json",
        std::string{R"({"weight_map":{"a":")"} + first_shard + R"(","b":")"
          + second_shard + "\"}}");
}

std::string refusal(const std::string& path) {
  const auto x = weight_files::open(path);
  if (x)
    return "read";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

std::vector<float> values_of(const stored_tensor* x) {
  if (x == nullptr)
    return {};
  std::vector<float> values(x->size());
  dequantise(x->type, x->bytes, values);
  return values;
}

using floats = std::vector<float>;

} // namespace

TEST(weight_files, have_what_was_written) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/made";
  const tensor_list tensors{{"w", {2, 1}}, {"a", {}}};
  ASSERT_TRUE(write_model_folder(path, {{"model_type", "gpt2"}}, tensors,
                                 floats{1, 2, 3}));
  const auto x = weight_files::open(path);
  ASSERT_TRUE(x) << x.error().context;
  const auto& files = **x;
  EXPECT_EQ(files.origin(), path);
  EXPECT_EQ(files.format(), weights_format::safetensors);
  EXPECT_EQ(files.header(), nullptr);
  ASSERT_NE(files.config().find("model_type"), nullptr);
  EXPECT_EQ(*files.config().find("model_type")->text(), "gpt2");
  ASSERT_EQ(files.tensors().size(), 2u);
  EXPECT_EQ(files.tensors()[0].name, "a") << "sorted by name";
  EXPECT_EQ(values_of(files.find("w")), (floats{1, 2}));
  EXPECT_EQ(values_of(files.find("a")), (floats{3}));
  EXPECT_EQ(files.find("v"), nullptr);
  const auto same = read_safetensors(path + "/model.safetensors");
  ASSERT_TRUE(same) << same.error().context;
  EXPECT_EQ(same->tensors, tensors);
  EXPECT_EQ(same->metadata.at("format"), "pt") << "who reads it asks";
}

TEST(weight_files, are_not_written_where_there_is_no_room) {
  const test::scratch_folder folder;
  write(folder.path() + "/file", "");
  const auto ok = write_model_folder(folder.path() + "/file", {}, {}, {});
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().code, errc::storage_failure);
  EXPECT_EQ(ok.error().context.find(folder.path() + "/file"), 0u);
}

TEST(weight_files, may_be_one_file_with_a_description_beside_it) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/any.safetensors";
  write_tensor(path, "a", 1);
  const auto alone = weight_files::open(path);
  ASSERT_TRUE(alone) << alone.error().context;
  EXPECT_EQ((*alone)->config().fields(), nullptr);
  write(folder.path() + "/config.json", R"({"vocab_size":7})");
  const auto beside = weight_files::open(path);
  ASSERT_TRUE(beside) << beside.error().context;
  EXPECT_EQ((*beside)->config().find("vocab_size")->count(), 7u);
}

TEST(weight_files, may_be_gguf) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/m.gguf";
  auto by_hand = test::keys_of_small_llama();
  by_hand.tensor("w", {1, 2}, {1, 2});
  by_hand.tensor("b", {1}, {3});
  by_hand.write(path);
  const auto x = weight_files::open(path);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ((*x)->format(), weights_format::gguf);
  ASSERT_NE((*x)->header(), nullptr);
  EXPECT_EQ(*(*x)->header()->text("general.architecture"), "llama");
  EXPECT_EQ((*x)->config().fields(), nullptr);
  EXPECT_EQ(values_of((*x)->find("w")), (floats{1, 2}));
  EXPECT_EQ(values_of((*x)->find("b")), (floats{3}));
  std::filesystem::remove(path);
  EXPECT_EQ(values_of((*x)->find("w")), (floats{1, 2}))
    << "they stay while they are held";
}

TEST(weight_files, may_be_shards_that_are_links) {
  const test::scratch_folder folder;
  write_shards(folder.path());
  std::filesystem::create_directory(folder.path() + "/blobs");
  std::filesystem::rename(folder.path() + "/" + second_shard,
                          folder.path() + "/blobs/1234");
  std::filesystem::create_symlink("blobs/1234",
                                  folder.path() + "/" + second_shard);
  const auto x = weight_files::open(folder.path());
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(values_of((*x)->find("a")), (floats{1}));
  EXPECT_EQ(values_of((*x)->find("b")), (floats{2}));
}

TEST(weight_files, are_the_single_file_where_there_are_shards_as_well) {
  const test::scratch_folder folder;
  write_shards(folder.path());
  write_tensor(folder.path() + "/model.safetensors", "a", 3);
  const auto x = weight_files::open(folder.path());
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(values_of((*x)->find("a")), (floats{3}));
  EXPECT_EQ((*x)->find("b"), nullptr);
}

TEST(weight_files, refuse_shards_of_two_models) {
  const test::scratch_folder folder;
  write_shards(folder.path());
  const auto index = folder.path() + "/model.safetensors.index.json";
  std::filesystem::remove(folder.path() + "/" + second_shard);
  EXPECT_EQ(refusal(folder.path()),
            index + " names '" + second_shard
              + "', which is not there; all 2 shards would do");
  write_tensor(folder.path() + "/" + second_shard, "c", 2);
  EXPECT_EQ(refusal(folder.path()),
            index + " puts 'b' into '" + second_shard
              + "', which lacks it; shards of one model would do");
  write_tensor(folder.path() + "/" + second_shard, "a", 2);
  EXPECT_EQ(refusal(folder.path()), index + " has 'a' in '" + first_shard
                                      + "' and in '" + second_shard
                                      + "'; shards of one model would do");
}

TEST(weight_files, look_for_whole_numbers_in_their_shard) {
  const test::scratch_folder folder;
  const std::string header =
    R"({"ids":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  const std::uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  write(folder.path() + "/one", file + header + "x");
  write(folder.path() + "/model.safetensors.index.json",
        R"({"weight_map":{"ids":"one"}})");
  const auto x = weight_files::open(folder.path());
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE((*x)->tensors().empty());
}

TEST(weight_files, refuse_what_is_no_model) {
  const test::scratch_folder folder;
  const auto path = folder.path();
  EXPECT_EQ(refusal(path),
            path
              + ": has neither model.safetensors nor "
                "model.safetensors.index.json; a folder with one of them, a "
                ".safetensors file or a .gguf would do");
  EXPECT_EQ(refusal(path + "/gone"),
            path
              + "/gone: cannot be read: there is no such file or folder; is "
                "the path right?");
  write(path + "/run.toml", "");
  EXPECT_EQ(refusal(path + "/run.toml"),
            path
              + "/run.toml: is no model; a folder with config.json, a "
                ".safetensors file or a .gguf would do");
  write(path + "/m.gguf", "GGML");
  EXPECT_EQ(refusal(path + "/m.gguf"),
            path + "/m.gguf: at byte 0: it is no GGUF file; a .gguf would do");
  write_tensor(path + "/model.safetensors", "a", 1);
  write(path + "/config.json", "[1]");
  EXPECT_EQ(refusal(path),
            path
              + "/config.json: is no JSON object; the one that came with the "
                "model would do");
}

TEST(weight_files, say_that_a_link_leads_to_nothing) {
  for (const auto* name :
       {"config.json", "model.safetensors", "model.safetensors.index.json"})
    for (const auto* to : {name, "gone"}) {
      const test::scratch_folder folder;
      const auto path = folder.path() + "/" + name;
      std::filesystem::create_symlink(to, path);
      const auto said = ": is a link to nothing that is there; one to what it "
                        "was to lead to would do";
      EXPECT_EQ(refusal(folder.path()), path + said);
      EXPECT_EQ(refusal(path).substr(0, path.size()), path);
      EXPECT_EQ(names_a_model(folder.path()),
                name == std::string{"config.json"});
    }
}

TEST(weight_files, are_told_from_configurations_by_their_names) {
  const test::scratch_folder folder;
  EXPECT_FALSE(names_a_model(""));
  EXPECT_FALSE(names_a_model(folder.path()));
  EXPECT_FALSE(names_a_model(folder.path() + "/run.toml"));
  EXPECT_TRUE(names_a_model(folder.path() + "/gone.gguf"));
  EXPECT_TRUE(names_a_model(folder.path() + "/gone.safetensors"));
  write(folder.path() + "/config.json", "{}");
  EXPECT_TRUE(names_a_model(folder.path()));
}

} // namespace troupe::models::weight_files_test
