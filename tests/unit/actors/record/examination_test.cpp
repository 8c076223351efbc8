#include "actors/record/examination.hpp"

#include <gmock/gmock.h>

#include "actors/record/events.hpp"
#include "tests/unit/actors/record/store_fixture.hpp"

namespace troupe::actors {

namespace {

using ::testing::HasSubstr;
using state = remark::state_kind;

class examination : public folder_test {
protected:
  examination() {
    with_versions(4);
    newest = largest_of(4);
  }

  /// What is not well, as `place: what`.
  std::vector<std::string> found(state kind, bool mends = false) const {
    std::vector<std::string> all;
    for (const auto& x : examine_ledger(folder, mends))
      if (x.state == kind)
        all.push_back(x.place + ": " + x.what);
    return all;
  }

  /// That it is all that is found, and mended when that is asked for, once.
  void expect_mended(const std::string& what) const {
    EXPECT_THAT(found(state::mendable), testing::ElementsAre(HasSubstr(what)));
    EXPECT_TRUE(found(state::broken).empty());
    EXPECT_THAT(found(state::mended, true),
                testing::ElementsAre(HasSubstr(what)));
    EXPECT_TRUE(found(state::mendable).empty());
    EXPECT_TRUE(found(state::mended, true).empty());
    EXPECT_EQ(opened()->load().value().lines.at(one_line).head, version{4});
  }

  /// The file of a version's large block.
  fs::path largest_of(std::uint64_t n) const {
    return folder / "versions"
           / models::to_hex(models::digest_of(
             std::as_bytes(std::span{*version_of(n).blocks[1].values})));
  }

  fs::path newest;
};

} // namespace

TEST_F(examination, finds_nothing_in_a_folder_that_is_whole) {
  for (const bool mends : {false, true})
    for (const auto& x : examine_ledger(folder, mends))
      EXPECT_EQ(x.state, state::fine) << x.place << ": " << x.what;
}

TEST_F(examination, takes_a_lost_older_version_for_one_that_is_not_kept) {
  ASSERT_TRUE(fs::remove(largest_of(3)));
  expect_mended("version 3 of line 1");
}

TEST_F(examination, mends_no_head_and_changes_nothing) {
  { std::ofstream{newest, std::ios::app} << "x"; }
  const auto before = files().size();
  EXPECT_THAT(found(state::broken, true),
              testing::ElementsAre(HasSubstr("heads: ")));
  EXPECT_EQ(files().size(), before);
}

TEST_F(examination, removes_files_that_nothing_names) {
  std::ofstream{folder / "versions" / std::string(64, 'a')} << "x";
  expect_mended("1 file that no row names");
}

TEST_F(examination, cuts_off_what_a_kill_left_of_the_record) {
  std::ofstream{folder / "events.jsonl"} << "{\"at\":0,\"ev";
  expect_mended("half a line");
  std::ofstream{folder / "events.jsonl", std::ios::app}
    << event_of(version_of(5), instant{}) << '\n';
  expect_mended("that the ledger does not have");
}

TEST_F(examination, says_which_line_of_the_record_is_damaged) {
  std::ofstream{folder / "events.jsonl"} << event_of(version_of(1), instant{})
                                         << "\n{\"at\":1}\n";
  EXPECT_THAT(found(state::broken),
              testing::ElementsAre(HasSubstr("events.jsonl:2: ")));
}

TEST_F(examination, has_the_ledger_its_owners_alone) {
  fs::permissions(folder / "ledger.sqlite", fs::perms::others_read,
                  fs::perm_options::add);
  expect_mended("others may read");
}

} // namespace troupe::actors
