// What is exported takes the place of nothing.

#include "node/commands/put_files.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch_folder.hpp"

namespace troupe::test::put_files_test {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct put_files : ::testing::Test {
  using texts = std::map<std::string, std::string>;

  /// All files there.
  texts there() const {
    texts all;
    if (fs::exists(to))
      for (const auto& x : fs::directory_iterator{to}) {
        std::ifstream in{x.path()};
        all[x.path().filename().string()] = {std::istreambuf_iterator<char>{in},
                                             {}};
      }
    return all;
  }

  std::string refusal(const texts& files) const {
    const auto done = node::put_folder(
      to, {"config.json", "model", "words"},
      [&](const fs::path& made) -> result<void> {
        for (const auto& [name, text] : files)
          std::ofstream{made / name} << text;
        if (files.empty())
          return fail(errc::storage_failure, "there is no room");
        return {};
      });
    return done ? "put" : done.error().context;
  }

  scratch_folder at;
  fs::path to = fs::path{at.path()} / "new" / "model";
};

const put_files::texts model{{"config.json", "1"}, {"model", "2"}};

} // namespace

TEST_F(put_files, are_put_into_a_folder_that_is_made) {
  EXPECT_EQ(refusal(model), "put");
  EXPECT_EQ(there(), model);
  EXPECT_EQ(refusal(model), "put") << "the same is there";
  auto more = model;
  more["words"] = "3";
  EXPECT_EQ(refusal(more), "put");
  EXPECT_EQ(there(), more);
}

TEST_F(put_files, take_the_place_of_no_others) {
  ASSERT_EQ(refusal(model), "put");
  EXPECT_EQ(refusal({{"config.json", "1"}, {"model", "other"}, {"words", "3"}}),
            (to / "model").string()
              + " is there and is another; a place without would do");
  EXPECT_EQ(there(), model) << "half of it is there";
  std::ofstream{to / "vocab.txt"} << "of another";
  EXPECT_THAT(refusal(model), HasSubstr(" has 'vocab.txt' in it, which is no "
                                        "part of the model; an empty folder "
                                        "would do"));
  EXPECT_EQ(there().size(), 3u);
}

TEST_F(put_files, that_cannot_be_made_leave_nothing) {
  EXPECT_EQ(refusal({}), "there is no room");
  EXPECT_FALSE(fs::exists(to));
}

// What was left of them is no part of a model, and nobody's any more.
TEST_F(put_files, are_put_where_one_was_killed_over_it) {
  const auto child = fork();
  if (child == 0)
    _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_EQ(refusal({{"config.json", "1"}}), "put");
  const auto left = to / (".export." + std::to_string(child));
  const auto of_before = to / (".export." + std::to_string(getpid()));
  for (const auto& x : {left, of_before}) {
    fs::create_directory(x);
    std::ofstream{x / "words"} << "half of th";
  }
  EXPECT_EQ(refusal(model), "put");
  EXPECT_EQ(there(), model);
  const auto alive = to / (".export." + std::to_string(getppid()));
  fs::create_directory(alive);
  EXPECT_THAT(refusal(model), HasSubstr(" has '.export."));
  EXPECT_TRUE(fs::exists(alive)) << "somebody is at work in it";
}

TEST_F(put_files, that_are_one_file_are_no_other) {
  const auto path = fs::path{at.path()} / "one.safetensors";
  const models::tensor_file one{{{"a", {2}}}, {1, 2}, {}};
  auto other = one;
  other.values[1] = 3;
  ASSERT_TRUE(node::put_file(path, one));
  EXPECT_TRUE(node::put_file(path, one)) << "the same is there";
  const auto done = node::put_file(path, other);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().context,
            path.string()
              + " is there and is another; a place without would do");
  const auto kept = models::read_safetensors(path);
  ASSERT_TRUE(kept) << kept.error().context;
  EXPECT_EQ(kept->values, one.values);
  EXPECT_EQ(std::distance(fs::directory_iterator{at.path()}, {}), 1);
}

} // namespace troupe::test::put_files_test
