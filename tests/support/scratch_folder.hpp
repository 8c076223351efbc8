#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <unistd.h>

namespace troupe::test {

/// A folder for one test, removed with it.
class scratch_folder {
public:
  scratch_folder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path()
            / ("troupe-" + std::to_string(getpid()) + "-"
               + test->test_suite_name() + "." + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }

  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  ~scratch_folder() {
    std::filesystem::remove_all(path_);
  }

  std::string path() const {
    return path_.string();
  }

private:
  std::filesystem::path path_;
};

} // namespace troupe::test
