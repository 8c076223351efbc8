#include "node/keys/permit_cache.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "node/keys/private_file.hpp"

namespace troupe::node {
namespace {

namespace fs = std::filesystem;

struct permit_cache_test : testing::Test {
  void SetUp() override {
    auto pattern = (fs::temp_directory_path() / "permits-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    path = fs::path{pattern} / "one";
    ASSERT_TRUE(write_private(path, text_for("ward-1")));
  }

  void TearDown() override {
    fs::remove_all(path.parent_path());
  }

  static std::string text_for(const std::string& name) {
    permit out;
    out.name = name;
    return write_permit(out);
  }

  std::string name() {
    const auto found = testee.at(path);
    return found ? found->name : "none";
  }

  fs::path path;
  permit_cache testee{-1}; // Whatever lies there may be kept at once.
};

} // namespace

TEST_F(permit_cache_test, says_what_a_file_says_now) {
  const std::function<void()> changes[] = {
    [&] { std::ofstream{path} << text_for("ward-two"); }, // In place.
    [&] { EXPECT_TRUE(write_private(path, text_for("ward-3"))); },
    [&] {
      std::ofstream{path, std::ios::app} << "more";
    },
    [&] { EXPECT_TRUE(write_private(path, text_for("ward-4"))); },
    [&] { fs::permissions(path, fs::perms{0644}); },
    [&] { fs::permissions(path, fs::perms{0600}); },
    [&] { fs::remove(path); }};
  const std::string names[] = {"ward-two", "ward-3", "none", "ward-4",
                               "none",     "ward-4", "none"};
  EXPECT_EQ(name(), "ward-1");
  EXPECT_EQ(name(), "ward-1");
  for (std::size_t i = 0; i < std::size(names); ++i) {
    changes[i]();
    EXPECT_EQ(name(), names[i]) << i;
    EXPECT_EQ(name(), names[i]) << i;
  }
}

} // namespace troupe::node
