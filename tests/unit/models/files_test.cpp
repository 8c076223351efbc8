#include "models/files.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace troupe::models {

namespace fs = std::filesystem;

class files_test : public ::testing::Test {
protected:
  files_test() {
    fs::create_directories(folder);
  }

  ~files_test() override {
    fs::remove_all(folder);
  }

  fs::path with(const std::string& text) const {
    std::ofstream{folder / "file"} << text;
    return folder / "file";
  }

  const fs::path folder =
    fs::path{::testing::TempDir()} / ("files_test." + std::to_string(getpid()));
};

std::vector<std::string> lines_of(const fs::path& path, bool& cut_off) {
  auto from = line_reader::open(path, errc::invalid_data).value();
  std::vector<std::string> lines;
  while (from.next())
    lines.push_back(from.line());
  cut_off = from.cut_off();
  return lines;
}

TEST_F(files_test, gives_lines_whatever_their_length) {
  bool cut_off = true;
  const std::string large(300'000, 'x');
  EXPECT_EQ(lines_of(with("a\n\n" + large + "\nb\n"), cut_off),
            (std::vector<std::string>{"a", "", large, "b"}));
  EXPECT_FALSE(cut_off);
  EXPECT_EQ(lines_of(with("a\nhalf"), cut_off), std::vector<std::string>{"a"});
  EXPECT_TRUE(cut_off);
  EXPECT_TRUE(lines_of(with(""), cut_off).empty());
  EXPECT_FALSE(cut_off);
}

// Each of them held a reader for ever, or took all memory.
TEST_F(files_test, refuses_at_once_what_is_no_file) {
  const auto pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {folder, pipe, fs::path{"/dev/zero"}}) {
    EXPECT_FALSE(read_file(path, errc::invalid_data)) << path;
    EXPECT_FALSE(read_text(path, errc::invalid_data)) << path;
    EXPECT_FALSE(line_reader::open(path, errc::invalid_data)) << path;
  }
  const auto hole = with("x");
  fs::resize_file(hole, std::uintmax_t{8} << 40);
  EXPECT_NE(read_file(hole, errc::invalid_data).error().context.find("at most"),
            std::string::npos);
  bool cut_off = false;
  EXPECT_TRUE(lines_of(hole, cut_off).empty());
  EXPECT_TRUE(cut_off);
}

// A rename puts away whatever has the name.
// One of the kernel's has no size until it is read.
TEST_F(files_test, reads_to_its_end_what_says_that_it_has_nothing) {
  const std::filesystem::path path{"/proc/self/status"};
  ASSERT_EQ(std::filesystem::file_size(path), 0u);
  const auto text = read_text(path, errc::invalid_data);
  ASSERT_TRUE(text) << text.error().context;
  EXPECT_NE(text->find("\nPid:"), std::string::npos);
  const auto bounded = read_file(path, errc::invalid_data, 4);
  ASSERT_FALSE(bounded);
  EXPECT_EQ(bounded.error().context,
            "/proc/self/status: has more than 4 bytes, and no more are read");
  std::ofstream{folder / "empty"};
  const auto nothing = read_file(folder / "empty", errc::invalid_data);
  ASSERT_TRUE(nothing) << nothing.error().context;
  EXPECT_TRUE(nothing->empty());
}

TEST_F(files_test, writes_what_is_large_as_it_is_whatever_its_length) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  for (const std::size_t size :
       {mib - 1, mib, 3 * mib, 3 * mib + 4096, 3 * mib + 1, 4 * mib - 1}) {
    std::vector<std::byte> all(size);
    for (std::size_t i = 0; i < size; ++i)
      all[i] = static_cast<std::byte>(i * 2654435761u >> 24);
    // Of no part it is said where it begins.
    const auto whole = std::span<const std::byte>{all};
    const std::array parts{whole.first(100), whole.subspan(100, 0),
                           whole.subspan(100, size - 1000), whole.last(900)};
    ASSERT_TRUE(replace_file(folder / "file", parts, {.sync = true}));
    const auto read = read_file(folder / "file", errc::storage_failure);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, all);
  }
}

TEST_F(files_test, replaces_nothing_but_files) {
  const auto there = with("precious");
  const auto pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto link = folder / "link";
  fs::create_symlink(there, link);
  const auto inner = folder / "folder";
  fs::create_directory(inner);
  const std::string text = "new";
  const std::array parts{std::as_bytes(std::span{text})};
  for (const auto& path : {pipe, link, inner}) {
    const auto before = fs::symlink_status(path).type();
    const auto done = replace_file(path, parts, {});
    ASSERT_FALSE(done) << path << " was replaced";
    EXPECT_NE(done.error().context.find(" is not replaced"), std::string::npos)
      << done.error().context;
    EXPECT_EQ(fs::symlink_status(path).type(), before);
  }
  EXPECT_EQ(*read_text(there, errc::invalid_data), "precious");
  EXPECT_TRUE(replace_file(there, parts, {}));
  EXPECT_EQ(*read_text(there, errc::invalid_data), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator{folder}, {}), 4);
}

TEST_F(files_test, removes_what_was_left_unfinished_and_nothing_else) {
  const auto there = with("precious");
  std::ofstream{folder / "file.17-1.unfinished"} << "half";
  std::ofstream{folder / "none.17-2.unfinished"} << "";
  fs::create_directory(folder / "inner");
  std::ofstream{folder / "inner" / "file.17-3.unfinished"} << "another's";
  remove_unfinished(folder);
  EXPECT_EQ(*read_text(there, errc::invalid_data), "precious");
  EXPECT_EQ(std::distance(fs::directory_iterator{folder}, {}), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator{folder / "inner"}, {}), 1);
  remove_unfinished(folder / "nowhere");
}

} // namespace troupe::models
