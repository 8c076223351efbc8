// What is said of a folder that is taken for a run's.

#include "node/config/no_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace troupe::test::no_run_test {

namespace {

namespace fs = std::filesystem;

struct row {
  std::string what;
  std::vector<std::string> files; ///< In the folder.
  std::string other;              ///< AT is where that is.
};

std::string placed(std::string text, const std::string& at) {
  for (std::size_t i = 0; (i = text.find("AT", i)) != text.npos; i += at.size())
    text.replace(i, 2, at);
  return text;
}

const std::vector<row> rows{
  {"a run", {"config.toml"}, ""},
  {"something else", {"notes.txt"}, ""},
  {"a sweep",
   {"sweep.toml", "base.toml", "table.md", "runs/fedavg-4/1/config.toml"},
   "AT holds no run: it is the folder of a sweep, whose runs are in folders of "
   "AT/runs, and whose table is AT/table.md"},
  {"a sweep that goes on",
   {"sweep.toml", "base.toml"},
   "AT holds no run: it is the folder of a sweep, whose runs are in folders of "
   "AT/runs; it has no table yet, and troupe run --resume AT goes on with it"},
  {"one run's parent",
   {"20261121-113226-a/config.toml", "notes.txt"},
   "AT holds no run by itself: there is one in it, AT/20261121-113226-a"},
  {"the parent of runs",
   {"20261122-b/config.toml", "20261121-a/config.toml", "20261123-c/x"},
   "AT holds no run by itself: there are 2 in it, of which the last is "
   "AT/20261122-b"},
};

} // namespace

TEST(no_run, is_told_from_a_sweep_and_from_a_folder_of_runs) {
  for (const auto& x : rows) {
    const scratch_folder at;
    for (const auto& name : x.files) {
      const auto path = fs::path{at.path()} / name;
      fs::create_directories(path.parent_path());
      std::ofstream{path} << '\n';
    }
    EXPECT_EQ(node::other_than_run(at.path()), placed(x.other, at.path()))
      << x.what;
  }
}

TEST(no_run, says_what_would_do) {
  const scratch_folder at;
  EXPECT_EQ(node::no_run_in(at.path()),
            at.path()
              + " holds no run: there is no config.toml in it; troupe run says "
                "at its end where its folder is");
  const auto none = at.path() + "/none";
  EXPECT_EQ(node::no_run_in(none),
            none
              + ": there is no such folder; troupe run says at its end where "
                "its folder is");
  std::ofstream{at.path() + "/sweep.toml"} << '\n';
  EXPECT_EQ(node::no_run_in(at.path()), node::other_than_run(at.path()));
}

} // namespace troupe::test::no_run_test
