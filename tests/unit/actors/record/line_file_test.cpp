#include "actors/record/line_file.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include <unistd.h>

#include "models/files.hpp"
#include "tests/support/small_disk.hpp"

namespace troupe::actors {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;

class line_file_test : public testing::Test {
protected:
  line_file_test() {
    std::ofstream{path} << "one\ntwo\nhalf";
  }

  ~line_file_test() override {
    fs::remove(path);
  }

  const fs::path path =
    fs::path{testing::TempDir()} / ("line_file." + std::to_string(getpid()));
};

TEST_F(line_file_test, cuts_half_a_line_off_its_end) {
  EXPECT_EQ(line_file::open(path).value().size(), 8u);
  std::ofstream{path, std::ios::app} << std::string(100'000, 'x');
  EXPECT_EQ(line_file::open(path).value().size(), 8u);
}

TEST_F(line_file_test, has_whole_lines_while_its_disk_is_full) {
  auto testee = line_file::open(path).value();
  ASSERT_TRUE(testee.append("three") && testee.append("four"));
  for (const rlim_t room : {16, 8, 17}) { // One line and half one, none, again.
    test::small_disk full{room};
    EXPECT_FALSE(testee.flush({}));
    EXPECT_EQ(testee.size(), 14u);
  }
  ASSERT_TRUE(testee.flush({}));
  EXPECT_EQ(models::read_text(path, errc::storage_failure).value(),
            "one\ntwo\nthree\nfour\n");
}

// It was read from its end back to its beginning, four kilobytes at a time.
TEST_F(line_file_test, does_not_look_for_a_line_through_terabytes_of_holes) {
  constexpr std::uintmax_t bytes = std::uintmax_t{8} << 40;
  fs::resize_file(path, bytes);
  const auto found = line_file::open(path);
  ASSERT_FALSE(found) << "it found an end of a line in holes";
  EXPECT_THAT(found.error().context,
              AllOf(HasSubstr(path.string()
                              + ": has 8796093022208 bytes, and "
                                "no line ends in the last"),
                    HasSubstr("; restore the folder from a copy")));
  EXPECT_EQ(fs::file_size(path), bytes) << "it was cut";
}

} // namespace troupe::actors
