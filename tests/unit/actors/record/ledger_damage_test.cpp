// What a disk, a person or a crash does to a ledger.

#include <algorithm>
#include <array>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actors/record/sqlite.hpp"
#include "core/random.hpp"
#include "tests/support/small_disk.hpp"
#include "tests/unit/actors/record/store_fixture.hpp"

namespace troupe::actors {

using ledger_damage_test = folder_test;

TEST_F(ledger_damage_test, finds_a_damaged_file_of_values) {
  auto testee = with_versions(1);
  fs::path damaged;
  for (const auto& x : files()) {
    damaged = x;
    std::fstream{x, std::ios::in | std::ios::out | std::ios::binary}.put('x');
  }
  testee.reset();
  const auto node = opened()->load();
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, errc::storage_failure);
  EXPECT_NE(node.error().context.find((folder / "versions").string()),
            std::string::npos);
  EXPECT_NE(node.error().context.find("restore it from a copy"),
            std::string::npos);
}

TEST_F(ledger_damage_test, finds_what_was_changed_in_the_ledger) {
  const std::array changes{
    "UPDATE contents SET bytes = zeroblob(8) WHERE block = 1",
    "UPDATE versions SET digest = replace(digest, substr(digest, 1, 1), 'x')",
    "UPDATE blocks SET digest = 'none'",
    "DELETE FROM contents WHERE what = 'values'",
    "DELETE FROM contents WHERE what = 'moments'",
    "DELETE FROM versions WHERE version = 1",
    "UPDATE lines SET head = head + 1",
    "UPDATE meta SET value = 'zz' WHERE key = 'seal_key'",
    "INSERT INTO rounds VALUES (0, 1, 0, x'00')",
    "INSERT INTO reservations VALUES ('end', 9)",
    "INSERT INTO reservations VALUES ('last visit of client 1x', 2)",
  };
  for (const auto* change : changes) {
    fs::remove_all(folder);
    with_versions(2);
    {
      auto db = sqlite::database::open(folder / "ledger.sqlite", {}).value();
      db->run(change);
      ASSERT_TRUE(db->check());
    }
    auto made = make_sqlite_store(options());
    const auto node = made ? (*made)->load() : tl::unexpected{made.error()};
    ASSERT_FALSE(node) << change;
    const auto& problem = node.error();
    EXPECT_EQ(problem.code, errc::storage_failure) << change;
    EXPECT_NE(problem.context.find("ledger.sqlite: "), std::string::npos)
      << change;
    EXPECT_NE(problem.context.find("restore the folder"), std::string::npos)
      << change;
  }
}

TEST_F(ledger_damage_test, names_what_is_wrong_of_last_visits) {
  for (const auto& [change, said] :
       {std::pair{"INSERT INTO reservations VALUES ('end', 9)",
                  "there is no end 9 of a run; 1 to 3 would do"},
        std::pair{
          "INSERT INTO reservations VALUES ('last visit of client ', 2)",
          "'last visit of client ' names no client"}}) {
    fs::remove_all(folder);
    with_versions(1);
    sqlite::database::open(folder / "ledger.sqlite", {}).value()->run(change);
    const auto node = opened()->load();
    ASSERT_FALSE(node) << change;
    EXPECT_NE(node.error().context.find(said), std::string::npos)
      << node.error().context;
  }
}

// Who waits for a disk would wait for ever.
TEST_F(ledger_damage_test, tells_what_does_not_fit_from_what_a_disk_refuses) {
  opened();
  auto db = sqlite::database::open(folder / "ledger.sqlite", {}).value();
  db->run("INSERT INTO meta VALUES ('schema_version', '2')");
  const auto done = db->check();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::invalid_argument);
  EXPECT_NE(done.error().context.find("keep the folder"), std::string::npos);
}

TEST_F(ledger_damage_test, names_a_file_that_is_no_ledger_and_another_schema) {
  fs::create_directories(folder);
  std::ofstream{folder / "ledger.sqlite"} << std::string(5000, 'x');
  const auto text = make_sqlite_store(options()).error().context;
  EXPECT_NE(text.find("ledger.sqlite: cannot"), std::string::npos);
  EXPECT_NE(text.find("it is damaged, or no ledger"), std::string::npos);
  fs::remove_all(folder);
  opened();
  sqlite::database::open(folder / "ledger.sqlite", {})
    .value()
    ->run("UPDATE meta SET value = '2' WHERE key = 'schema_version'");
  EXPECT_EQ(
    make_sqlite_store(options()).error().context,
    (folder / "ledger.sqlite").string()
      + ": its schema is '2', this build reads 3; use the build that wrote it");
}

TEST_F(ledger_damage_test, a_full_disk_fails_the_commit_and_room_lets_it_pass) {
  auto testee = with_versions(1);
  ASSERT_TRUE(testee->note({messages::line_noted::file::events, "kept"}));
  for (const rlim_t room :
       {0, 300, 20000}) { // Notes, values, the ledger's log.
    test::small_disk full{room};
    const auto done = testee->commit(version_of(2, 2000));
    ASSERT_FALSE(done) << room;
    EXPECT_EQ(done.error().code, errc::storage_failure);
    EXPECT_NE(done.error().context.find(folder.string()), std::string::npos);
  }
  EXPECT_EQ(testee->load().value().lines.at(one_line).head, version{1});
  ASSERT_TRUE(testee->commit(version_of(2, 2000)));
  ASSERT_TRUE(testee->commit(version_of(3)));
  expect_equal(testee->load().value().lines.at(one_line).blocks,
               version_of(3).blocks);
  EXPECT_EQ(text_of("events.jsonl"), "kept\n");
}

TEST_F(ledger_damage_test, says_which_folder_cannot_be_written) {
  std::ofstream{folder.string()} << "a file";
  const auto in_the_way = make_sqlite_store(options());
  ASSERT_FALSE(in_the_way);
  EXPECT_NE(in_the_way.error().context.find(folder.string()),
            std::string::npos);
  fs::remove(folder);
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec
                            | fs::perms::others_read | fs::perms::others_exec);
  const bool root = geteuid() == 0; // For whom no folder is read-only.
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto made = make_sqlite_store(options());
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  fs::permissions(folder, fs::perms::owner_all);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::storage_failure);
  EXPECT_NE(made.error().context.find("make the folder writable"),
            std::string::npos);
  EXPECT_TRUE(make_sqlite_store(options()));
}

// Crashes.

namespace {

/// Goes on committing from wherever the line is, and says so in `out` after
/// each.
[[noreturn]] void commit_for_ever(const sqlite_options& opts, int out) {
  auto testee = make_sqlite_store(opts);
  if (!testee || !(*testee)->begin(one_line, version_of(0).blocks))
    _exit(1);
  const auto node = (*testee)->load();
  if (!node)
    _exit(2);
  for (auto n = node->lines.at(one_line).head.value + 1;; ++n)
    if (!(*testee)->commit(version_of(n))
        || write(out, &n, sizeof n) != sizeof n)
      _exit(3);
}

/// Lets a child commit some versions, and kills it in the middle of whatever it
/// does then. Returns the last version that it was told to be durable.
std::uint64_t crash(const sqlite_options& opts, random_stream& random) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const auto child = fork();
  if (child == 0) {
    close(ends[0]);
    commit_for_ever(opts, ends[1]);
  }
  close(ends[1]);
  std::uint64_t told = 0;
  const auto target = 1 + random.below(8);
  for (std::uint64_t i = 0; i < target; ++i)
    EXPECT_EQ(read(ends[0], &told, sizeof told),
              static_cast<ssize_t>(sizeof told));
  volatile std::uint64_t spin =
    random.below(2'000'000); // About a commit's length.
  while (spin > 0)
    spin = spin - 1;
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (std::uint64_t n = 0; read(ends[0], &n, sizeof n) == sizeof n;)
    told = n;
  close(ends[0]);
  return told;
}

policies::visit_windows replayed(const fs::path& folder) {
  policies::visit_windows x;
  auto db = sqlite::database::open(folder / "ledger.sqlite", {}).value();
  for (auto row =
         db->query("SELECT client, number FROM merges ORDER BY version");
       row.next();)
    x[{row.integer(0)}].insert({row.integer(1)});
  return x;
}

} // namespace

TEST_F(ledger_damage_test, survives_fifty_crashes_in_the_middle_of_anything) {
  random_stream random{1};
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    auto opts = options();
    opts.durable = i % 2 == 0 ? durability::full : durability::relaxed;
    const auto told = crash(opts, random);
    auto testee = opened(opts);
    ASSERT_TRUE(testee);
    const auto node =
      testee->load(); // Checks that there is no gap, and the values.
    ASSERT_TRUE(node) << node.error().context;
    const auto& line = node->lines.at(one_line);
    EXPECT_TRUE(line.head.value == told || line.head.value == told + 1)
      << line.head.value << " after " << told;
    expect_equal(line.blocks, version_of(line.head.value).blocks);
    EXPECT_EQ(line.merged, replayed(folder));
    EXPECT_EQ(files().size(), std::min<std::size_t>(line.head.value + 1, 3));
  }
}

} // namespace troupe::actors
