#include "node/run/guard.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "node/keys/pair.hpp"
#include "node/keys/private_file.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

namespace fs = std::filesystem;

// Whoever was given the key of before would know nobody here.
TEST(guard, makes_no_other_pair_where_its_own_is_gone_or_wrong) {
  const test::scratch_folder scratch;
  const auto folder = fs::path{scratch.path()} / "keys";
  const auto made = guard::make(folder);
  ASSERT_TRUE(made) << made.error().context;
  const auto own = (*made)->own();
  const auto kept = (*made)->kept();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->open, own.open);
  const auto path = folder / "pair";
  fs::rename(path, folder / "aside");
  EXPECT_FALSE((*made)->kept());
  EXPECT_FALSE(fs::exists(path)) << "it is drawn for a new server alone";
  ASSERT_TRUE(write_private(path, "half of a fi"));
  EXPECT_FALSE((*made)->kept());
  EXPECT_FALSE(guard::make(folder)) << "nor does a new process have another";
  EXPECT_EQ(read_private(path).value_or(""), "half of a fi");
  fs::rename(folder / "aside", path);
  EXPECT_EQ((*made)->kept()->open, own.open);
}

// Who is denied says hello again at once, over a connection that is there.
TEST(guard, lets_nobody_in_from_the_moment_of_a_denial_on) {
  const test::scratch_folder scratch;
  const auto folder = fs::path{scratch.path()} / "keys";
  const auto made = guard::make(folder);
  ASSERT_TRUE(made) << made.error().context;
  const keyring keys{folder};
  const auto who = draw_pair().open;
  EXPECT_FALSE((*made)->lets_in(who));
  ASSERT_TRUE(keys.allow(who, {.name = "ward"}));
  EXPECT_TRUE((*made)->lets_in(who));
  ASSERT_TRUE(keys.deny("ward"));
  EXPECT_FALSE((*made)->lets_in(who));
}

TEST(guard, says_where_it_made_its_pair_where_there_was_none) {
  const test::scratch_folder scratch;
  for (const bool at_once : {true, false}) {
    const auto folder = fs::path{scratch.path()} / (at_once ? "one" : "other");
    const auto made = guard::make(at_once ? folder : fs::path{});
    ASSERT_TRUE(made) << made.error().context;
    EXPECT_EQ((*made)->news().empty(), !at_once);
    ASSERT_TRUE((*made)->settle(folder));
    EXPECT_THAT((*made)->news(),
                testing::HasSubstr("made in " + folder.string() + "; troupe"));
    const auto again = guard::make(folder);
    ASSERT_TRUE(again) << again.error().context;
    EXPECT_EQ((*again)->news(), "");
  }
}

TEST(guard, goes_by_what_it_has_before_there_is_a_folder) {
  const auto made = guard::make({});
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->kept()->open, (*made)->own().open);
}

} // namespace
} // namespace troupe::node
