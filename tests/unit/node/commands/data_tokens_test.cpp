// What `troupe data tokens` and `troupe data tokenizer` say.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "node/commands/data.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace troupe::node::data_tokens_test {

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using parsed = nlohmann::json;

struct said {
  exit_code how;
  std::string out;
  std::string err;
};

said run_data(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  const auto how = data(args, {out, err});
  return {how, out.str(), err.str()};
}

class data_tokens_command : public ::testing::Test {
protected:
  std::string put(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path{folder.path()} / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
    return path.string();
  }

  test::scratch_folder folder;
};

} // namespace

TEST_F(data_tokens_command, counts_the_tokens_of_a_text) {
  const auto file = put("a.txt", "abbccc\n");
  const auto x = run_data({"tokens", file, "--tokenizer", "bytes"});
  EXPECT_EQ(x.how, exit_code::ok) << x.err;
  EXPECT_THAT(x.out,
              StartsWith(file + ": 7 bytes\n  tokenizer  bytes of 257 "));
  EXPECT_THAT(x.out, HasSubstr("\n  tokens     7, 1.000 of a byte\n"
                               "  unknown    none can be\n"
                               "  frequent  "));
  EXPECT_THAT(x.out, HasSubstr(" 3,"));
  EXPECT_THAT(x.out, HasSubstr("\n  decoded    to the same bytes\n"));
  const auto object = parsed::parse(
    run_data({"tokens", file, "--tokenizer", "bytes", "--format", "json"}).out);
  EXPECT_EQ(object["tokens"], 7);
  EXPECT_EQ(object["unknown"], nullptr);
  EXPECT_EQ(object["same_bytes"], true);
  ASSERT_EQ(object["frequent"].size(), 4u); // What is not there is not shown.
  EXPECT_EQ(object["frequent"][0]["id"], 'c');
  EXPECT_EQ(object["frequent"][0]["count"], 3);
  // Of equals the lesser id: the end of the line.
  EXPECT_EQ(object["frequent"][2]["id"], '\n');
}

// Without a step that makes letters of bytes no token says a space.
TEST_F(data_tokens_command, says_what_a_tokenizer_leaves_out) {
  auto all = test::byte_level_json({{"w", "o"}});
  all["pre_tokenizer"] = nullptr;
  const auto words = put("tokenizer.json", all.dump());
  const auto file = put("a.txt", "wo wo wo");
  const auto x = run_data({"tokens", file, "--tokenizer", words});
  EXPECT_EQ(x.how, exit_code::ok) << x.err;
  EXPECT_THAT(x.out, HasSubstr("\n  unknown    no token says so\n"));
  EXPECT_THAT(x.out, HasSubstr("\n  decoded    to other bytes, 2 fewer\n"));
  const auto object = parsed::parse(
    run_data({"tokens", file, "--tokenizer", words, "--format", "json"}).out);
  EXPECT_EQ(object["bytes"], 8);
  EXPECT_EQ(object["decoded_bytes"], 6);
}

TEST_F(data_tokens_command, says_the_ids_of_each_line) {
  const auto file = put("a.txt", "ab\n\n\xff");
  const auto x = run_data({"tokens", file, "--tokenizer", "bytes", "--ids"});
  EXPECT_EQ(x.how, exit_code::ok) << x.err;
  EXPECT_EQ(x.out, "97 98\n\n255\n");
  const auto object =
    parsed::parse(run_data({"tokens", file, "--tokenizer", "bytes", "--ids",
                            "--format", "json"})
                    .out);
  EXPECT_EQ(object["ids"], (parsed{{97, 98}, parsed::array(), {255}}));
}

TEST_F(data_tokens_command, refuses_what_has_no_text) {
  const std::vector<std::pair<std::string, std::string>> all{
    {"a.txt", ""},
    {"a.jsonl", ""},
    {"b.jsonl", "\n \n"},
    {"c.jsonl", "{\"text\": \"\"}\n"}};
  for (const auto& [name, content] : all)
    for (const bool ids : {false, true}) {
      const auto file = put(name, content);
      std::vector<std::string> args{"tokens", file, "--tokenizer", "bytes"};
      if (ids)
        args.emplace_back("--ids");
      const auto x = run_data(args);
      EXPECT_EQ(x.how, exit_code::data) << name;
      EXPECT_EQ(x.out, "") << name;
      EXPECT_EQ(x.err, "troupe: " + file
                         + ": has no text; a file with some would do\n");
    }
}

TEST_F(data_tokens_command, counts_what_the_kernel_says) {
  const auto x = run_data({"tokens", "/proc/self/status", "--tokenizer",
                           "bytes", "--format", "json"});
  ASSERT_EQ(x.how, exit_code::ok) << x.err;
  EXPECT_GT(parsed::parse(x.out)["tokens"], 0);
}

TEST_F(data_tokens_command, refuses_what_is_not_there) {
  const auto file = put("a.txt", "a");
  EXPECT_EQ(run_data({"tokens", file + ".no", "--tokenizer", "bytes"}).how,
            exit_code::data);
  EXPECT_EQ(run_data({"tokens", file, "--tokenizer", file + ".no"}).how,
            exit_code::data);
}

TEST_F(data_tokens_command, learns_a_tokenizer_from_all_texts_below_a_folder) {
  put("texts/one.txt", "the cat sat on the mat\n");
  put("texts/deeper/two.txt", "the cat sat on the mat\n");
  put("texts/no.md", "zzzz zzzz zzzz\n");
  put("texts/.hidden/no.txt", "zzzz zzzz zzzz\n");
  const auto to = folder.path() + "/made";
  const auto x = run_data({"tokenizer", folder.path() + "/texts", "--size",
                           "270", "--to", to, "--format", "json"});
  EXPECT_EQ(x.how, exit_code::ok) << x.err;
  const auto object = parsed::parse(x.out);
  EXPECT_EQ(object["files"], 2);
  EXPECT_EQ(object["bytes"], 46);
  EXPECT_EQ(object["file"], to + "/tokenizer.json");
  EXPECT_LE(object["tokens"], 270);
  const auto counted =
    parsed::parse(run_data({"tokens", folder.path() + "/texts/one.txt",
                            "--tokenizer", to, "--format", "json"})
                    .out);
  EXPECT_EQ(counted["tokenizer"]["digest"], object["digest"]);
  EXPECT_LT(counted["tokens"], 23);
  EXPECT_EQ(counted["same_bytes"], true);
}

// What JSON says beside a text is nobody's to learn.
TEST_F(data_tokens_command, learns_from_users_as_a_run_reads_them) {
  const std::string text = "the cat sat on the mat";
  const std::vector<std::pair<std::string, std::string>> all{
    {"anna.txt", text},
    {"anna.jsonl", "{\"text\": \"" + text + "\", \"label\": \"the\"}\n\n"},
    {"anna/a.md", text},
    {"anna.md", text}};
  std::vector<std::string> digests;
  for (const auto& [name, content] : all) {
    const auto number = std::to_string(digests.size());
    put("lab" + number + "/" + name, content);
    const auto x =
      run_data({"tokenizer", folder.path() + "/lab" + number, "--to",
                folder.path() + "/made" + number, "--format", "json"});
    ASSERT_EQ(x.how, exit_code::ok) << name << ": " << x.err;
    const auto object = parsed::parse(x.out);
    EXPECT_EQ(object["files"], 1) << name;
    EXPECT_EQ(object["bytes"], 22) << name;
    digests.push_back(object["digest"]);
  }
  EXPECT_THAT(digests, ::testing::Each(digests[0]));
}

TEST_F(data_tokens_command, counts_the_texts_of_lines) {
  const auto file =
    put("a.jsonl", "{\"text\": \"a\\nb\"}\n\n{\"text\": \"c\"}\n");
  const auto x = run_data({"tokens", file, "--tokenizer", "bytes"});
  EXPECT_EQ(x.how, exit_code::ok) << x.err;
  EXPECT_THAT(x.out, StartsWith(file + ": 4 bytes\n"));
  EXPECT_THAT(x.out, HasSubstr("\n  decoded    to the same bytes\n"));
  EXPECT_EQ(run_data({"tokens", file, "--tokenizer", "bytes", "--ids"}).out,
            "97 10 98\n99\n");
  const auto other = run_data(
    {"tokens", put("b.jsonl", "{\"a\": 1}\n"), "--tokenizer", "bytes"});
  EXPECT_EQ(other.how, exit_code::data);
  EXPECT_THAT(other.err, HasSubstr("b.jsonl:1: is no document"));
}

TEST_F(data_tokens_command, is_named_where_a_text_is_no_configuration) {
  const std::string hint = "\nhint: of a text, troupe data tokens FILE "
                           "--tokenizer PATH says what it is in tokens\n";
  for (const std::string name : {"a.txt", "a.jsonl", "a.csv", "a"}) {
    const auto x = run_data({"inspect", put(name, "{\"text\": \"a\"}\n")});
    EXPECT_EQ(x.how, exit_code::configuration);
    EXPECT_THAT(x.err, HasSubstr("this is not TOML: "));
    EXPECT_THAT(x.err, ::testing::EndsWith(hint)) << name;
  }
  EXPECT_THAT(run_data({"inspect", put("a.toml", "{")}).err,
              ::testing::Not(HasSubstr("hint: ")));
  EXPECT_THAT(run_data({"inspect", put("b", "unknown = 1")}).err,
              ::testing::Not(HasSubstr("hint: of a text")));
}

TEST_F(data_tokens_command, leaves_a_tokenizer_that_is_there) {
  const auto text = put("a.txt", "the cat the cat the cat");
  const auto to = folder.path() + "/made";
  const std::vector<std::string> again{"tokenizer", text, "--to", to};
  EXPECT_EQ(run_data(again).how, exit_code::ok);
  EXPECT_EQ(run_data(again).how, exit_code::ok); // It is the same one.
  const auto other =
    run_data({"tokenizer", put("b.txt", "dogs dogs dogs"), "--to", to});
  EXPECT_EQ(other.how, exit_code::failed);
  EXPECT_EQ(other.err, "troupe: " + to
                         + "/tokenizer.json is there and is another; a folder "
                           "without would do\n");
}

TEST_F(data_tokens_command, learns_nothing_where_nothing_stands_twice) {
  put("texts/a.txt", "");
  const auto to = folder.path() + "/made";
  for (const auto& path :
       {put("empty.txt", ""), put("letter.txt", "a"), put("words.txt", "a bc"),
        put("empty.jsonl", ""), folder.path() + "/texts"}) {
    const auto x = run_data({"tokenizer", path, "--to", to});
    EXPECT_EQ(x.how, exit_code::data) << path;
    EXPECT_EQ(x.err, "troupe: " + path
                       + ": nothing stands twice in it; more text would do\n");
    EXPECT_FALSE(std::filesystem::exists(to)) << path;
  }
}

TEST_F(data_tokens_command, learns_nothing_where_there_is_no_text) {
  put("texts/.hidden", "a");
  const auto x = run_data(
    {"tokenizer", folder.path() + "/texts", "--to", folder.path() + "/made"});
  EXPECT_EQ(x.how, exit_code::data);
  EXPECT_EQ(x.err, "troupe: " + folder.path()
                     + "/texts: there is no text below it; a file of text, "
                       "or a folder of such, would do\n");
}

TEST_F(data_tokens_command, refuses_options_that_a_verb_has_no_use_for) {
  const auto file = put("a.txt", "a");
  const std::vector<std::pair<std::vector<std::string>, std::string>> all{
    {{"inspect", file, "--tokenizer", "bytes"}, "--tokenizer"},
    {{"inspect", file, "--ids"}, "--ids"},
    {{"inspect", file, "--size", "300"}, "--size"},
    {{"inspect", file, "--to", "x"}, "--to"},
    {{"tokens", file, "--tokenizer", "bytes", "--size", "300"}, "--size"},
    {{"tokens", file, "--tokenizer", "bytes", "--to", "x"}, "--to"},
    {{"tokens", file, "--tokenizer", "bytes", "--set", "rounds=1"}, "--set"},
    {{"tokenizer", file, "--to", "x", "--tokenizer", "bytes"}, "--tokenizer"},
    {{"tokenizer", file, "--to", "x", "--ids"}, "--ids"},
    {{"tokenizer", file, "--to", "x", "--set", "rounds=1"}, "--set"}};
  for (const auto& [args, option] : all) {
    const auto x = run_data(args);
    EXPECT_EQ(x.how, exit_code::usage) << args[0] << ' ' << option;
    EXPECT_THAT(x.err,
                HasSubstr(option + " is of no use to 'data " + args[0] + "'"));
  }
  EXPECT_THAT(run_data({"tokens", file}).err,
              HasSubstr("'data tokens' lacks an option\nhint: --tokenizer PATH "
                        "would do"));
  EXPECT_THAT(run_data({"tokenizer", file}).err,
              HasSubstr("hint: --to FOLDER would do"));
  // Bytes and the end of a text alone would be nothing learned.
  EXPECT_EQ(run_data({"tokenizer", file, "--to", "x", "--size", "257"}).how,
            exit_code::usage);
}

} // namespace troupe::node::data_tokens_test
