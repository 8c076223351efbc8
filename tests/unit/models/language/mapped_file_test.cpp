#include "models/language/mapped_file.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/scratch_folder.hpp"

namespace troupe::models::mapped_file_test {

namespace {

std::string_view text_of(const mapped_file& x) {
  return {reinterpret_cast<const char*>(x.bytes().data()), x.bytes().size()};
}

std::string refusal(const std::string& path) {
  const auto x = mapped_file::open(path, errc::invalid_data);
  if (x)
    return "mapped";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

} // namespace

TEST(mapped_file, has_the_bytes_of_its_file) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/x";
  std::ofstream{path} << "some bytes";
  const auto x = mapped_file::open(path, errc::invalid_data);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(text_of(*x), "some bytes");
}

TEST(mapped_file, keeps_them_where_they_are_when_it_moves) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/x";
  std::ofstream{path} << "some bytes";
  auto x = mapped_file::open(path, errc::invalid_data);
  ASSERT_TRUE(x);
  const auto* at = x->bytes().data();
  auto y = std::move(*x);
  EXPECT_EQ(y.bytes().data(), at);
  EXPECT_TRUE(x->bytes().empty());
  std::filesystem::remove(path);
  std::ofstream{path} << "others";
  auto z = mapped_file::open(path, errc::invalid_data);
  ASSERT_TRUE(z);
  EXPECT_EQ(text_of(y), "some bytes") << "a name is no file";
  y = std::move(*z);
  EXPECT_EQ(text_of(y), "others");
}

TEST(mapped_file, may_be_empty_and_a_link) {
  const test::scratch_folder folder;
  std::ofstream{folder.path() + "/empty"};
  std::filesystem::create_symlink("empty", folder.path() + "/link");
  const auto x = mapped_file::open(folder.path() + "/link", errc::invalid_data);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->bytes().empty());
}

TEST(mapped_file, refuses_what_is_no_file) {
  const test::scratch_folder folder;
  EXPECT_EQ(refusal(folder.path() + "/gone"),
            folder.path()
              + "/gone: cannot be read: there is no such file; is the path "
                "right?");
  EXPECT_EQ(refusal(folder.path()),
            folder.path() + ": is a folder; a file would do");
  const auto pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), pipe + ": is not a regular file");
}

} // namespace troupe::models::mapped_file_test
