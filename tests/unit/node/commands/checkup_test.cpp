#include "node/commands/checkup.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include "actors/record/sqlite_store.hpp"
#include "core/clock.hpp"
#include "core/hex.hpp"
#include "models/files.hpp"
#include "models/safetensors.hpp"
#include "node/commands/keys.hpp"
#include "node/join/known_servers.hpp"
#include "node/join/store.hpp"
#include "node/keys/keyring.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/private_file.hpp"
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

TEST(checkup, finds_a_common_model_that_is_gone) {
  const test::scratch_folder scratch;
  const auto folder = a_run(scratch);
  std::filesystem::create_directory(folder / "logs");
  std::ofstream{folder / common_digest_file} << std::string(64, 'a') << '\n';
  const auto other = of_common(folder);
  EXPECT_EQ(other.state, state::broken);
  EXPECT_NE(other.what.find("and logs/common_digest says aaaaaaaa; "),
            std::string::npos)
    << other.what;
  std::filesystem::remove(folder / common_file);
  EXPECT_EQ(of_common(folder).state, state::broken);
}

// Its method says that the run had one.
TEST(checkup, finds_a_common_model_that_is_gone_with_its_digest) {
  const test::scratch_folder scratch;
  const auto folder = a_run(scratch);
  std::filesystem::remove(folder / common_file);
  const auto found = of_common(folder);
  EXPECT_EQ(found.state, state::broken);
  EXPECT_EQ(found.what, "it is gone, and the run's clients look through the "
                        "common model in it");
}

TEST(checkup, finds_a_digest_of_a_common_model_that_is_gone_or_damaged) {
  const test::scratch_folder scratch;
  const auto folder = a_run(scratch);
  const auto remark_on_it = [&] {
    const auto all = check_up(folder, false).value();
    const auto found =
      std::ranges::find(all, common_digest_file, &actors::remark::place);
    return found == all.end() ? actors::remark{} : *found;
  };
  EXPECT_EQ(remark_on_it().what, "");
  std::ofstream{folder / "summary.json"} << R"({"files": {}})";
  const auto gone = remark_on_it();
  EXPECT_EQ(gone.state, state::broken);
  EXPECT_NE(gone.what.find("/logs/common_digest is gone, "), std::string::npos)
    << gone.what;
  std::filesystem::create_directory(folder / "logs");
  std::ofstream{folder / common_digest_file} << "12345678901\n";
  const auto damaged = remark_on_it();
  EXPECT_EQ(damaged.state, state::broken);
  EXPECT_NE(damaged.what.find(
              "/logs/common_digest is damaged: it says '12345678901', "),
            std::string::npos)
    << damaged.what;
}

std::vector<actors::remark> of_all(const std::filesystem::path& folder) {
  const auto all = check_up(folder, false);
  EXPECT_TRUE(all) << all.error().context;
  return all.value_or(std::vector<actors::remark>{});
}

/// What is not whole of it, of each of these files with its second half gone.
void are_missed(const std::filesystem::path& folder,
                const std::vector<std::filesystem::path>& files) {
  const auto is_broken = [](const auto& x) { return x.state == state::broken; };
  EXPECT_TRUE(std::ranges::none_of(of_all(folder), is_broken));
  for (const auto& path : files) {
    const auto text = models::read_text(path, errc::storage_failure).value();
    std::ofstream{path} << text.substr(0, text.size() / 2);
    const auto all = of_all(folder);
    const auto found = std::ranges::find_if(all, is_broken);
    ASSERT_NE(found, all.end()) << path;
    EXPECT_EQ(found->place, path.filename().string());
    std::ofstream{path} << text;
  }
}

TEST(checkup, finds_what_a_process_cannot_read_of_its_keys) {
  const test::scratch_folder scratch;
  const std::filesystem::path folder{scratch.path()};
  ASSERT_TRUE(store_id_of(folder));
  ASSERT_TRUE(write_pair(folder / "pair", draw_pair()));
  const auto known = draw_pair().open;
  ASSERT_TRUE(known_servers{folder}.told(known, draw_pair().open,
                                         unix_milliseconds() + 1'000'000));
  are_missed(folder, {folder / "id", folder / "pair",
                      folder / "servers" / to_hex(known)});
}

TEST(checkup, finds_what_a_server_cannot_read_of_its_keys) {
  const test::scratch_folder scratch;
  const auto folder = a_run(scratch);
  std::ofstream{folder / "config.toml", std::ios::app} << "\n";
  ASSERT_TRUE(actors::make_sqlite_store({.folder = folder}));
  const keyring keys{folder / "keys"};
  ASSERT_TRUE(make_private(keys.folder()));
  ASSERT_TRUE(write_pair(keys.folder() / "pair", draw_pair()));
  ASSERT_TRUE(
    write_coming(keys.folder() / "next", {draw_pair(), 1'800'000'000'000}));
  const auto known = draw_pair().open;
  ASSERT_TRUE(keys.allow(known, {.name = "bob"}));
  are_missed(folder, {keys.folder() / "pair", keys.folder() / "next",
                      keys.folder() / "allowed" / to_hex(known)});
}

TEST(commands, of_keys_keep_to_themselves) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EXIT(
    {
      ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); // Another test may have taken it.
      (void)keys_command({}, {out, err});
      std::exit(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
    },
    testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace troupe::node
