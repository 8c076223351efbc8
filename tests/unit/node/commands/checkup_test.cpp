#include "node/commands/checkup.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "models/safetensors.hpp"
#include "node/task/common_values.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

using state = actors::remark::state_kind;

/// Of a run that kept its versions in memory, with a common model.
std::filesystem::path a_run(const test::scratch_folder& in) {
  const std::filesystem::path folder{in.path()};
  std::ofstream{folder / "config.toml"}
    << "name = \"a\"\nmethod = \"common_expert\"\nrounds = 1\n"
       "ledger = \"memory\"\n";
  models::tensor_file file{.tensors = {{"common/weight", {2, 2}}},
                           .values = {1, 2, 3, 4}};
  file.metadata["digest"] = models::to_hex(digest_of(file));
  EXPECT_TRUE(models::write_safetensors(folder / common_file, file));
  return folder;
}

actors::remark of_common(const std::filesystem::path& folder) {
  const auto all = check_up(folder, false);
  EXPECT_TRUE(all) << all.error().context;
  const auto found =
    std::ranges::find(*all, common_file, &actors::remark::place);
  EXPECT_NE(found, all->end());
  return found == all->end() ? actors::remark{} : *found;
}

TEST(checkup, knows_a_common_model_as_it_was_kept) {
  const test::scratch_folder scratch;
  const auto found = of_common(a_run(scratch));
  EXPECT_EQ(found.state, state::fine) << found.what;
}

TEST(checkup, finds_a_common_model_that_was_damaged) {
  const test::scratch_folder scratch;
  const auto folder = a_run(scratch);
  {
    std::fstream file{folder / common_file,
                      std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(-1, std::ios::end);
    file.put('\x41');
  }
  const auto found = of_common(folder);
  EXPECT_EQ(found.state, state::broken);
  EXPECT_NE(found.what.find("is damaged"), std::string::npos) << found.what;
  EXPECT_EQ(found.hint, "restore it from a copy");
}

} // namespace
} // namespace troupe::node
