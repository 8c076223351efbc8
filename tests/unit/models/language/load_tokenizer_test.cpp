#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/language/tokenizer.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace troupe::models::load_tokenizer_test {

namespace {

namespace fs = std::filesystem;

using ids = std::vector<token_id>;

fs::path write(const test::scratch_folder& in, const std::string& name,
               const std::string& text) {
  const auto path = fs::path{in.path()} / name;
  std::ofstream{path, std::ios::binary} << text;
  return path;
}

std::shared_ptr<const tokenizer> loaded(const fs::path& path) {
  auto x = load_tokenizer(path);
  EXPECT_TRUE(x) << x.error().context;
  return std::move(*x);
}

/// What stands behind the path.
std::string refusal(const fs::path& path) {
  const auto x = load_tokenizer(path);
  if (x)
    return "read";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  const auto& text = x.error().context;
  EXPECT_EQ(text.substr(0, path.string().size()), path.string());
  return text.substr(path.string().size());
}

constexpr const char* would_do =
  "; the model's own tokenizer.json, a folder with it, with vocab.json and "
  "merges.txt, or with vocab.txt, a .gguf, or 'bytes' would do";

/// The vocabulary of GPT-2's two files.
std::string vocabulary(const merge_list& merges, bool with_ends) {
  auto x = json::object();
  for (const auto& [text, id] : test::letters_and(merges))
    x.add(text, id);
  const auto end = static_cast<token_id>(256 + merges.size());
  if (with_ends) {
    x.add("<s>", end);
    x.add("</s>", end + 1);
  } else {
    x.add("<|endoftext|>", end);
  }
  return x.dump();
}

} // namespace

TEST(load_tokenizer, takes_bytes_by_their_name) {
  EXPECT_EQ(loaded("bytes")->kind(), "bytes");
}

TEST(load_tokenizer, reads_a_folder_with_one_file) {
  const test::scratch_folder folder;
  auto x = test::byte_level_json({{"h", "e"}});
  test::add_token(x, "<|im_end|>", 257, true);
  const auto path = write(folder, "tokenizer.json", x.dump());
  EXPECT_FALSE(loaded(folder.path())->special().end);
  write(folder, "tokenizer_config.json", R"({"eos_token": "<|im_end|>"})");
  const auto by = loaded(folder.path());
  EXPECT_EQ(test::ids_of(*by, "he"), (ids{256}));
  EXPECT_EQ(by->special().end, std::optional<token_id>{257});
  EXPECT_EQ(loaded(path)->content(), by->content());
}

TEST(load_tokenizer, reads_two_files) {
  const test::scratch_folder folder;
  const auto path = write(folder, "vocab.json",
                          vocabulary({{"#", "version"}, {"h", "e"}}, false));
  const auto refused = refusal(folder.path());
  EXPECT_EQ(refused, "/vocab.json: it has no merges.txt beside it; that of the "
                     "same tokenizer would do");
  // Only a first line is no merge.
  write(folder, "merges.txt", "#version: 0.2\nh e\r\n\n");
  const auto by = loaded(folder.path());
  EXPECT_EQ(test::ids_of(*by, "he "), (ids{257, ' '}));
  EXPECT_EQ(by->special().end, std::optional<token_id>{258});
  EXPECT_TRUE(by->before().empty());
  EXPECT_EQ(loaded(path)->content(), by->content());
  for (const auto* mark : {"\xef\xbb\xbf", "\xef\xbb\xbf#version: 0.2\n"}) {
    write(folder, "merges.txt", std::string{mark} + "h e\n");
    EXPECT_EQ(loaded(path)->content(), by->content()) << "a byte order mark";
  }
}

TEST(load_tokenizer, says_that_a_link_leads_to_nothing) {
  for (const auto* name : {"tokenizer.json", "vocab.json", "vocab.txt"}) {
    const test::scratch_folder folder;
    fs::create_symlink(name, fs::path{folder.path()} / name); // To itself.
    EXPECT_EQ(refusal(folder.path()),
              "/" + std::string{name}
                + ": is a link to nothing that is there; one to what it was to "
                  "lead to would do");
  }
}

TEST(load_tokenizer, two_files_with_ends_put_them_around_a_text) {
  const test::scratch_folder folder;
  write(folder, "vocab.json", vocabulary({{"h", "e"}}, true));
  write(folder, "merges.txt", "h e\n");
  const auto by = loaded(folder.path());
  EXPECT_EQ(by->before(), (ids{257}));
  EXPECT_EQ(by->after(), (ids{258}));
}

TEST(load_tokenizer, reads_a_list_of_words) {
  const test::scratch_folder folder;
  const auto path = write(folder, "vocab.txt",
                          "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhel\n##lo\n,\nHel\n");
  const auto by = loaded(folder.path());
  EXPECT_EQ(by->kind(), "wordpiece");
  EXPECT_EQ(test::ids_of(*by, "Hello, x"), (ids{4, 5, 6, 1}));
  EXPECT_EQ(by->before(), (ids{2}));
  EXPECT_EQ(by->after(), (ids{3}));
  EXPECT_EQ(by->special().pad, std::optional<token_id>{0});
  EXPECT_EQ(by->decode(std::vector<token_id>{4, 5, 6}).value(), "hello,");
  write(folder, "tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(test::ids_of(*loaded(path), "Hello"), (ids{7, 5}));
}

// Before all of them are in memory.
TEST(load_tokenizer, refuses_a_list_of_too_many_words) {
  const test::scratch_folder folder;
  EXPECT_EQ(refusal(write(folder, "vocab.txt",
                          std::string((std::size_t{1} << 20) + 1, '\n'))),
            ": the vocabulary has 1048577 tokens; at most 1048576 would do");
}

TEST(load_tokenizer, stands_beside_weights) {
  const test::scratch_folder folder;
  const auto weights = write(folder, "model.safetensors", "");
  const auto none = load_tokenizer(weights);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().context,
            folder.path() + ": has no tokenizer" + would_do);
  EXPECT_EQ(own_tokenizer(weights), nullptr);
  write(folder, "tokenizer.json", test::byte_level_json({{"h", "e"}}).dump());
  EXPECT_EQ(loaded(weights)->content(), loaded(folder.path())->content());
  EXPECT_FALSE(load_tokenizer_for(weights, "bytes")) << "it has one of its own";
}

TEST(load_tokenizer, says_what_would_do) {
  const test::scratch_folder folder;
  EXPECT_EQ(refusal(folder.path()),
            std::string{": has no tokenizer"} + would_do);
  EXPECT_EQ(refusal(fs::path{folder.path()} / "x"),
            std::string{": is not there"} + would_do);
  EXPECT_EQ(refusal(write(folder, "x.bin", "")),
            std::string{": is no tokenizer"} + would_do);
  EXPECT_EQ(refusal(write(folder, "x.json", "{")).substr(0, 13),
            ": is no JSON:");
  EXPECT_NE(refusal(write(folder, "x.gguf", "GGUF")), "read");
}

TEST(load_tokenizer, refuses_what_another_library_reads_by_its_name) {
  const test::scratch_folder folder;
  const auto path = write(folder, "tokenizer.model", "\n\x0b");
  const std::string text = ": is a tokenizer of SentencePiece, which nothing "
                           "here reads; the tokenizer.json of the same model "
                           "would do";
  EXPECT_EQ(refusal(path), text);
  EXPECT_EQ(refusal(folder.path()), "/tokenizer.model" + text);
  // Many models have both.
  write(folder, "tokenizer.json", test::byte_level_json({{"h", "e"}}).dump());
  EXPECT_EQ(loaded(folder.path())->size(), 257U);
}

TEST(load_tokenizer_for, takes_the_models_own_or_the_same) {
  const test::scratch_folder model, other;
  const auto text = test::byte_level_json({{"h", "e"}}).dump();
  write(model, "tokenizer.json", text);
  const auto same = write(other, "tokenizer.json", text);
  const auto own = load_tokenizer_for(model.path(), {});
  ASSERT_TRUE(own) << own.error().context;
  const auto named = load_tokenizer_for(model.path(), same);
  ASSERT_TRUE(named) << named.error().context;
  EXPECT_EQ((*named)->content(), (*own)->content());
}

TEST(load_tokenizer_for, takes_any_for_a_model_without_its_own) {
  const test::scratch_folder model;
  EXPECT_EQ(own_tokenizer(model.path()), nullptr);
  EXPECT_TRUE(load_tokenizer_for(model.path(), "bytes"));
  EXPECT_TRUE(load_tokenizer_for({}, "bytes"));
  // One that is not read here is compared with nothing.
  write(model, "tokenizer.model", "");
  EXPECT_TRUE(load_tokenizer_for(model.path(), "bytes"));
  EXPECT_FALSE(load_tokenizer_for(model.path(), {}));
}

TEST(load_tokenizer_for, refuses_one_of_another_model) {
  const test::scratch_folder model;
  write(model, "tokenizer.json", test::byte_level_json({{"h", "e"}}).dump());
  const auto found = load_tokenizer_for(model.path(), "bytes");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_config);
  const auto short_digest = [](const tokenizer& x) {
    return to_hex(x.content()).substr(0, 8);
  };
  EXPECT_EQ(found.error().context,
            "bytes: is not the tokenizer of " + std::string{model.path()}
              + ", which has one of its own: bytes of 257 tokens with digest "
              + short_digest(*byte_tokenizer())
              + ", the model's is bpe of 257 tokens with digest "
              + short_digest(*loaded(model.path()))
              + "; without a name the model's own is taken");
}

// Where the models are (docs/language.md).
TEST(load_tokenizer, reads_that_of_a_published_model) {
  const auto* models = std::getenv("TROUPE_LANGUAGE");
  if (models == nullptr)
    GTEST_SKIP() << "TROUPE_LANGUAGE names no folder";
  fs::path found;
  for (const auto& x : fs::recursive_directory_iterator{models})
    if (x.path().extension() == ".gguf")
      found = x.path();
  if (found.empty())
    GTEST_SKIP() << "there is no .gguf";
  const auto by = loaded(found);
  EXPECT_EQ(by->size(), 49'152U);
  const std::string text = "Hello  world's 12345!\n\n  \xc3\x9c"
                           "ber \xf0\x9f\x98\x80";
  EXPECT_EQ(by->decode(test::ids_of(*by, text)).value(), text);
}

} // namespace troupe::models::load_tokenizer_test
