// What `troupe data inspect` says of a folder that it can do nothing with.

#include "node/commands/inspect_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "node/commands/data.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node::inspect_folder_test {

namespace {

using ::testing::HasSubstr;

struct inspected_folder : ::testing::Test {
  void put(const std::string& name) const {
    std::ofstream{at.path() + "/" + name} << "x";
  }

  std::string refusal() const {
    std::ostringstream out, err;
    const std::vector<std::string> args{"inspect", at.path()};
    EXPECT_EQ(data(args, {.out = out, .err = err}), exit_code::data);
    return err.str();
  }

  const test::scratch_folder at;
};

} // namespace

TEST_F(inspected_folder, says_what_was_looked_for_and_what_is_there) {
  for (const auto* name : {"f.txt", "a.txt", "b.txt", "c.txt", "d.txt",
                           "e.jsonl", "tokenizer.json"})
    put(name);
  const auto said = refusal();
  EXPECT_THAT(said, HasSubstr("this folder is no model: " + at.path()
                              + " has no config.json"));
  EXPECT_THAT(said, HasSubstr("it has 'a.txt', 'b.txt', 'c.txt', 'd.txt', "
                              "'e.jsonl' and 2 more"));
  EXPECT_THAT(said, HasSubstr("a configuration in TOML, whose data.path may be "
                              "this folder, would do"));
}

TEST_F(inspected_folder, names_what_in_it_can_be_inspected) {
  put("a.txt");
  put("m.gguf");
  EXPECT_THAT(refusal(),
              HasSubstr("troupe data inspect " + at.path() + "/m.gguf"));
  std::filesystem::create_directories(at.path() + "/base");
  put("base/config.json");
  EXPECT_THAT(refusal(),
              HasSubstr("troupe data inspect " + at.path() + "/base would do"));
}

TEST_F(inspected_folder, may_be_empty) {
  EXPECT_THAT(refusal(), HasSubstr("it is empty"));
}

} // namespace troupe::node::inspect_folder_test
