#include "node/run/guard.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "core/clock.hpp"
#include "core/hex.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/private_file.hpp"
#include "tests/support/no_more_files.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

namespace fs = std::filesystem;

/// Looks until it finds somebody denied, for a while.
std::set<key_hash> denied_by(guard& x, const std::set<key_hash>& clients) {
  std::set<key_hash> out;
  for (int i = 0; i < 4000 && out.empty(); ++i) {
    out = x.newly_denied(clients);
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return out;
}

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
  EXPECT_EQ((*made)->lets_in(who), false);
  ASSERT_TRUE(keys.allow(who, {.name = "ward"}));
  EXPECT_EQ((*made)->lets_in(who), true);
  EXPECT_EQ((*made)->standing(who), key_standing::allowed);
  ASSERT_TRUE(keys.deny("ward"));
  EXPECT_EQ((*made)->lets_in(who), std::nullopt) << "it may be edited";
  EXPECT_EQ((*made)->standing(who), key_standing::unknown) << "of who comes";
  EXPECT_EQ((*made)->still(who), key_standing::allowed);
  EXPECT_EQ(denied_by(**made, {}), std::set{hash_of(who)});
  EXPECT_EQ((*made)->still(who), key_standing::unknown);
  EXPECT_EQ((*made)->lets_in(who), false);
  EXPECT_TRUE((*made)->newly_denied({}).empty());
}

// An editor puts a file in the place of another, or writes into it.
TEST(guard, denies_nobody_whose_file_is_as_it_was_a_moment_later) {
  const test::scratch_folder scratch;
  const auto folder = fs::path{scratch.path()} / "keys";
  const auto made = guard::make(folder);
  ASSERT_TRUE(made) << made.error().context;
  const auto who = draw_pair().open;
  const auto path = folder / "allowed" / to_hex(who);
  ASSERT_TRUE(keyring{folder}.allow(who, {.name = "ward"}));
  EXPECT_EQ((*made)->standing(who), key_standing::allowed);
  const auto text = read_private(path);
  ASSERT_TRUE(text);
  for (const bool is_gone : {true, false}) {
    if (is_gone)
      fs::rename(path, folder / "aside");
    else
      ASSERT_TRUE(write_private(path, text->substr(0, 20)));
    EXPECT_TRUE((*made)->newly_denied({hash_of(who)}).empty());
    EXPECT_EQ((*made)->still(who), key_standing::allowed);
    EXPECT_EQ((*made)->lets_in(who), std::nullopt);
    ASSERT_TRUE(write_private(path, *text));
    EXPECT_TRUE((*made)->newly_denied({hash_of(who)}).empty());
    std::this_thread::sleep_for(denials::second_look);
    EXPECT_TRUE((*made)->newly_denied({hash_of(who)}).empty());
    EXPECT_EQ((*made)->lets_in(who), true);
  }
}

// Connections of strangers may take all that there are.
TEST(guard, goes_by_what_it_knew_while_no_file_can_be_opened) {
  const test::scratch_folder scratch;
  const auto folder = fs::path{scratch.path()} / "keys";
  const auto made = guard::make(folder);
  ASSERT_TRUE(made) << made.error().context;
  const auto who = draw_pair().open;
  const auto other = draw_pair().open;
  ASSERT_TRUE(keyring{folder}.allow(who, {.name = "ward"}));
  ASSERT_TRUE(keyring{folder}.allow(other, {.name = "other"}));
  EXPECT_EQ((*made)->standing(who), key_standing::allowed);
  {
    const test::no_more_files short_of_files;
    EXPECT_EQ((*made)->standing(who), key_standing::allowed);
    EXPECT_EQ((*made)->standing(other), key_standing::unsure);
    EXPECT_EQ((*made)->lets_in(who), true);
    const auto found = (*made)->claim_of(who);
    EXPECT_FALSE(found);
    EXPECT_EQ(found.error().code, errc::unavailable);
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE((*made)->newly_denied({hash_of(who)}).empty());
      std::this_thread::sleep_for(denials::second_look);
    }
    EXPECT_EQ((*made)->still(who), key_standing::allowed);
  }
  EXPECT_EQ((*made)->standing(other), key_standing::allowed);
}

// Whoever is being denied may have taken them all.
TEST(guard, denies_whose_file_is_gone_while_no_file_can_be_opened) {
  const test::scratch_folder scratch;
  const auto folder = fs::path{scratch.path()} / "keys";
  const auto made = guard::make(folder);
  ASSERT_TRUE(made) << made.error().context;
  const auto who = draw_pair().open;
  const auto other = draw_pair().open;
  const auto away = hash_of(draw_pair().open);
  ASSERT_TRUE(keyring{folder}.allow(who, {.name = "ward"}));
  ASSERT_TRUE(keyring{folder}.allow(other, {.name = "other"}));
  EXPECT_EQ((*made)->standing(who), key_standing::allowed);
  EXPECT_EQ((*made)->standing(other), key_standing::allowed);
  EXPECT_TRUE((*made)->newly_denied({}).empty());
  EXPECT_TRUE((*made)->saw_all());
  {
    const test::no_more_files short_of_files;
    fs::remove(folder / "allowed" / to_hex(who)); // So does another process.
    EXPECT_EQ((*made)->standing(who), key_standing::unknown);
    EXPECT_EQ((*made)->lets_in(who), std::nullopt);
    EXPECT_EQ(denied_by(**made, {away}), std::set{hash_of(who)});
    EXPECT_FALSE((*made)->saw_all());
    EXPECT_EQ((*made)->still(who), key_standing::unknown);
    EXPECT_EQ((*made)->lets_in(who), false);
    EXPECT_EQ((*made)->still(other), key_standing::allowed);
  }
  EXPECT_TRUE((*made)->newly_denied({}).empty());
  EXPECT_TRUE((*made)->saw_all());
}

// Its folder knows nothing of a file that somebody writes into, or of a key
// that runs out.
TEST(guard, looks_again_within_ten_seconds_though_its_folder_is_as_it_was) {
  using std::chrono::seconds;
  const test::scratch_folder scratch;
  const auto folder = fs::path{scratch.path()} / "keys";
  const auto made = guard::make(folder);
  ASSERT_TRUE(made) << made.error().context;
  const auto who = draw_pair().open;
  ASSERT_TRUE(keyring{folder}.allow(who, {.name = "ward"}));
  EXPECT_EQ((*made)->standing(who), key_standing::allowed);
  const auto then = steady_now();
  EXPECT_TRUE((*made)->may_have_changed(then));
  EXPECT_TRUE((*made)->may_have_changed(then + seconds{1})) << "a further look";
  EXPECT_FALSE((*made)->may_have_changed(then + seconds{2}));
  std::ofstream{folder / "allowed" / to_hex(who)} << "half of a fi";
  EXPECT_FALSE((*made)->may_have_changed(then + seconds{9}));
  EXPECT_TRUE((*made)->may_have_changed(then + seconds{11}));
  EXPECT_EQ(denied_by(**made, {}), std::set{hash_of(who)});
}

TEST(guard, denies_who_is_here_when_its_key_has_run_out) {
  const test::scratch_folder scratch;
  const auto folder = fs::path{scratch.path()} / "keys";
  const auto made = guard::make(folder);
  ASSERT_TRUE(made) << made.error().context;
  const auto who = draw_pair().open;
  ASSERT_TRUE(keyring{folder}.allow(who, {.name = "ward"}));
  EXPECT_EQ((*made)->standing(who), key_standing::allowed);
  EXPECT_TRUE((*made)->newly_denied({}).empty());
  ASSERT_TRUE(keyring{folder}.allow(
    who, {.name = "ward", .expires_ms = unix_milliseconds() - 2000}));
  EXPECT_EQ(denied_by(**made, {}), std::set{hash_of(who)});
  EXPECT_EQ((*made)->standing(who), key_standing::expired);
}

// They may have had clients before this process began.
TEST(guard, says_of_who_has_clients_that_its_key_is_denied) {
  const test::scratch_folder scratch;
  const auto made = guard::make(fs::path{scratch.path()} / "keys");
  ASSERT_TRUE(made) << made.error().context;
  const auto who = hash_of(draw_pair().open);
  EXPECT_EQ(denied_by(**made, {who}), std::set{who});
  EXPECT_TRUE((*made)->newly_denied({who}).empty());
}

TEST(guard, says_where_it_made_its_pair_where_there_was_none) {
  const test::scratch_folder scratch;
  for (const bool at_once : {true, false}) {
    const auto folder = fs::path{scratch.path()} / (at_once ? "one" : "other");
    const auto made = guard::make(at_once ? folder : fs::path{});
    ASSERT_TRUE(made) << made.error().context;
    EXPECT_EQ((*made)->news().empty(), !at_once);
    ASSERT_TRUE((*made)->settle(folder));
    EXPECT_THAT((*made)->news(), ::testing::HasSubstr(
                                   "made in " + folder.string() + "; troupe"));
    const auto again = guard::make(folder);
    ASSERT_TRUE(again) << again.error().context;
    EXPECT_EQ((*again)->news(), "");
  }
}

TEST(guard, settles_where_its_pair_could_be_written_and_not_before) {
  const test::scratch_folder scratch;
  const fs::path folder{scratch.path()};
  const auto made = guard::make({});
  ASSERT_TRUE(made);
  ASSERT_TRUE(write_private(folder / "file", "no folder"));
  EXPECT_FALSE((*made)->settle(folder / "file" / "keys"));
  EXPECT_FALSE((*made)->may_have_changed(steady_now()));
  EXPECT_EQ((*made)->news(), "");
  ASSERT_TRUE((*made)->settle(folder / "keys"));
  EXPECT_EQ(keyring{folder / "keys"}.kept()->open, (*made)->own().open);
}

TEST(guard, goes_by_what_it_has_before_there_is_a_folder) {
  const auto made = guard::make({});
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->kept()->open, (*made)->own().open);
}

} // namespace
} // namespace troupe::node
