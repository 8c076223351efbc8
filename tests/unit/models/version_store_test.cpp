#include "models/version_store.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/small_disk.hpp"

namespace troupe::models {

namespace {

namespace fs = std::filesystem;

class version_store_test : public ::testing::TestWithParam<bool> {
protected:
  version_store_test() {
    fs::remove_all(folder);
  }

  ~version_store_test() override {
    fs::remove_all(folder);
  }

  version_store made() const {
    auto x = version_store::open(folder, {.sync = GetParam()});
    EXPECT_TRUE(x) << x.error().context;
    return *x;
  }

  std::size_t files() const {
    return static_cast<std::size_t>(
      std::distance(fs::directory_iterator{folder}, {}));
  }

  const fs::path folder =
    fs::path{::testing::TempDir()} / "troupe_version_store" / "versions";
};

const std::vector<float> some{1, 2, -0.0f};
const std::vector<float> other{3};

std::vector<std::byte> bytes_of_some() {
  const auto x = std::as_bytes(std::span{some});
  return {x.begin(), x.end()};
}

} // namespace

TEST_P(version_store_test, gives_back_what_was_put) {
  auto testee = made();
  const auto name = testee.put(some);
  ASSERT_TRUE(name) << name.error().context;
  EXPECT_EQ(*name, digest_of(std::as_bytes(std::span{some})));
  EXPECT_TRUE(testee.contains(*name));
  EXPECT_EQ(testee.get(*name).value(), bytes_of_some());
  EXPECT_EQ(made().get(*name).value().size(), 12u);
}

TEST_P(version_store_test, equal_values_are_one_file) {
  auto testee = made();
  EXPECT_EQ(testee.put(some).value(), testee.put(some).value());
  EXPECT_EQ(files(), 1u);
  EXPECT_NE(testee.put(other).value(), testee.put(some).value());
  EXPECT_EQ(files(), 2u);
}

TEST_P(version_store_test, finds_every_damage) {
  auto testee = made();
  const auto name = testee.put(some).value();
  const auto path = testee.path_of(name);
  for (const std::string& content :
       {std::string(12, 'x'), std::string{}, std::string(11, '\0')}) {
    std::ofstream{path, std::ios::binary} << content;
    const auto x = testee.get(name);
    ASSERT_FALSE(x);
    EXPECT_EQ(x.error().code, errc::storage_failure);
    EXPECT_EQ(x.error().context,
              path.string()
                + ": its content is not what its name says: the file is "
                  "damaged; restore it from a copy, or resume from an "
                  "earlier version");
  }
  // Whoever puts it again repairs it.
  EXPECT_EQ(testee.put(some).value(), name);
  EXPECT_EQ(testee.get(name).value(), bytes_of_some());
}

TEST_P(version_store_test, keeps_what_it_is_told_to_and_what_is_not_its_own) {
  auto testee = made();
  const auto a = testee.put(some).value();
  const auto b = testee.put(other).value();
  const auto gone = testee.put(std::vector<float>{5}).value();
  std::ofstream{folder / "notes.txt"} << "mine";
  std::ofstream{folder / (to_hex(a) + ".17-1.unfinished")} << "half";
  EXPECT_EQ(testee.retain({a, b}).value(), 2u);
  EXPECT_TRUE(testee.contains(a));
  EXPECT_TRUE(testee.contains(b));
  EXPECT_FALSE(testee.contains(gone));
  EXPECT_TRUE(fs::exists(folder / "notes.txt"));
  EXPECT_EQ(files(), 3u);
  EXPECT_EQ(testee.retain({a, b}).value(), 0u);
}

TEST_P(version_store_test,
       a_value_that_is_not_there_is_an_error_with_its_path) {
  const auto testee = made();
  const auto x = testee.get(digest{});
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, errc::storage_failure);
  EXPECT_EQ(x.error().context,
            folder.string() + "/" + std::string(64, '0')
              + ": cannot be read: there is no such file; is the path right?");
}

TEST_P(version_store_test, a_full_disk_leaves_nothing_behind) {
  auto testee = made();
  const auto kept = testee.put(some).value();
  const std::vector<float> large(1000, 1);
  {
    const test::small_disk full{100};
    const auto x = testee.put(large);
    ASSERT_FALSE(x);
    EXPECT_EQ(x.error().code, errc::storage_failure);
    EXPECT_NE(x.error().context.find(": cannot write the file: "),
              std::string::npos);
  }
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(testee.get(kept).value(), bytes_of_some());
  EXPECT_TRUE(testee.put(large));
}

TEST_P(version_store_test, a_folder_that_cannot_be_is_an_error) {
  auto testee = made();
  fs::remove_all(folder);
  const auto x = testee.put(some);
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, errc::storage_failure);
  EXPECT_NE(x.error().context.find("cannot create the file"),
            std::string::npos);
  std::ofstream{folder} << "a file";
  const auto y = version_store::open(folder / "below", {});
  ASSERT_FALSE(y);
  EXPECT_EQ(y.error().code, errc::storage_failure);
  EXPECT_FALSE(testee.retain({}));
}

INSTANTIATE_TEST_SUITE_P(sync_or_not, version_store_test, ::testing::Bool());

} // namespace troupe::models
