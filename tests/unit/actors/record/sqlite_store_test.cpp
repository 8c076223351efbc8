#include "actors/record/sqlite_store.hpp"

#include "actors/record/events.hpp"
#include "actors/record/sqlite.hpp"
#include "tests/unit/actors/record/store_fixture.hpp"

namespace troupe::actors {

using sqlite_store_test = folder_test;

TEST_F(sqlite_store_test, another_process_finds_it_all_again) {
  messages::seal_key key{};
  {
    auto testee = with_versions(2);
    ASSERT_TRUE(testee->save(
      {.token = 1, .clients = {{{3}, 6, 32}}, .index_upto = 9, .round = {}}));
    key = testee->load().value().key;
  }
  const auto node = opened()->load().value();
  EXPECT_EQ(node.lines.at(one_line).head, version{2});
  expect_equal(node.lines.at(one_line).blocks, version_of(2).blocks);
  EXPECT_EQ(node.lines.at(one_line).merged.size(), 2u);
  EXPECT_EQ(node.index_upto, 9u);
  EXPECT_EQ(node.key, key);
  EXPECT_NE(node.key, messages::seal_key{});
}

TEST_F(sqlite_store_test, two_runs_have_two_keys) {
  const auto first = opened()->load().value().key;
  fs::remove_all(folder);
  EXPECT_NE(opened()->load().value().key, first);
}

TEST_F(sqlite_store_test, keeps_values_of_the_last_versions_and_all_digests) {
  auto testee = with_versions(10);
  EXPECT_EQ(files().size(),
            3u); // One large block each; the retention is three.
  testee.reset();
  auto db = sqlite::database::open(folder / "ledger.sqlite", {}).value();
  auto count =
    db->query("SELECT (SELECT count(*) FROM versions),"
              " (SELECT count(*) FROM blocks),"
              " (SELECT min(version) FROM contents),"
              " (SELECT count(*) FROM contents WHERE what = 'moments')");
  ASSERT_TRUE(count.next());
  EXPECT_EQ(count.integer(0), 11u);
  EXPECT_EQ(count.integer(1), 22u);
  EXPECT_EQ(count.integer(2), 8u);
  EXPECT_EQ(count.integer(3), 1u);
}

messages::save_requested saved(std::uint64_t client, double loss) {
  return {.token = 1,
          .clients = {{.client = {client}, .examples = 6, .loss = loss}},
          .index_upto = 9,
          .round = {}};
}

snapshot some_state() {
  snapshot x;
  x.parts["someone"] = {std::byte{1}};
  return x;
}

TEST_F(sqlite_store_test, a_snapshot_has_all_that_changed_before_it) {
  auto testee = with_versions(1);
  for (std::uint64_t k = 1; k <= 4; ++k)
    ASSERT_TRUE(testee->save(saved(k, 1)));
  ASSERT_TRUE(testee->keep(some_state()));
  ASSERT_TRUE(testee->save(saved(2, 2)));
  ASSERT_TRUE(testee->save(saved(5, 2)));
  ASSERT_TRUE(testee->save(saved(5, 4)));
  ASSERT_TRUE(testee->commit(version_of(2)));
  ASSERT_TRUE(testee->commit(version_of(3)));
  ASSERT_TRUE(testee->keep(some_state()));
  const auto then = testee->load().value();
  ASSERT_TRUE(testee->save(saved(2, 3)));
  ASSERT_TRUE(testee->save(saved(6, 3)));
  ASSERT_TRUE(testee->commit(version_of(4)));
  ASSERT_TRUE(testee->rewind().value());
  for (int i = 0; i < 2; ++i) { // Also of a snapshot that follows a rewind.
    const auto found = testee->load().value();
    EXPECT_EQ(found.lines.at(one_line).head, version{3});
    EXPECT_EQ(found.lines.at(one_line).merged, then.lines.at(one_line).merged);
    ASSERT_EQ(found.clients.size(), then.clients.size());
    for (const auto& [client, x] : then.clients)
      EXPECT_EQ(found.clients.at(client).loss, x.loss);
    ASSERT_TRUE(testee->save(saved(6, 4)));
    ASSERT_TRUE(testee->rewind().value());
  }
}

// With many clients and lines the others would be copied each time.
TEST_F(sqlite_store_test, a_snapshot_copies_the_rows_alone_that_changed) {
  auto testee = with_versions(1);
  for (std::uint64_t k = 1; k <= 3; ++k)
    ASSERT_TRUE(testee->save(saved(k, 1)));
  ASSERT_TRUE(testee->keep(some_state()));
  auto db = sqlite::database::open(folder / "ledger.sqlite", {}).value();
  db->run("UPDATE kept_clients SET loss = 77");
  db->run("UPDATE kept_windows SET bits = 77");
  ASSERT_TRUE(testee->save(saved(2, 2)));
  ASSERT_TRUE(testee->keep(some_state()));
  auto count =
    db->query("SELECT (SELECT count(*) FROM kept_clients),"
              " (SELECT count(*) FROM kept_clients WHERE loss = 77),"
              " (SELECT count(*) FROM kept_windows),"
              " (SELECT count(*) FROM kept_windows WHERE bits = 77)");
  ASSERT_TRUE(count.next());
  EXPECT_EQ(count.integer(0), 3u);
  EXPECT_EQ(count.integer(1), 2u);
  EXPECT_EQ(count.integer(2), 2u);
  EXPECT_EQ(count.integer(3), 2u);
}

TEST_F(sqlite_store_test, equal_values_of_another_version_keep_their_file) {
  auto testee = with_versions(1);
  for (std::uint64_t n = 2; n <= 8; ++n) {
    auto same = version_of(1);
    same.head = {n};
    same.merged = {};
    ASSERT_TRUE(testee->commit(same));
  }
  EXPECT_EQ(files().size(), 1u);
  EXPECT_TRUE(testee->load());
}

// The process before died between a commit and the removal of what that
// dropped.
TEST_F(sqlite_store_test, another_process_removes_what_no_row_names) {
  auto testee = with_versions(3);
  fs::copy(folder / "versions", folder / "before");
  ASSERT_TRUE(testee->commit(version_of(4)));
  testee.reset();
  const auto named = files().size();
  fs::copy(folder / "before", folder / "versions",
           fs::copy_options::recursive | fs::copy_options::skip_existing);
  EXPECT_EQ(files().size(), named + 1);
  testee = opened();
  EXPECT_EQ(files().size(), named);
  EXPECT_EQ(testee->load().value().lines.at(one_line).head, version{4});
}

TEST_F(sqlite_store_test, a_visit_is_never_merged_twice) {
  auto testee = with_versions(1);
  auto again = version_of(2);
  again.merged = version_of(1).merged;
  const auto done = testee->commit(again);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().context,
            "visit 1 of client 3 is merged already; nothing was stored");
  EXPECT_EQ(testee->load().value().lines.at(one_line).head, version{1});
  EXPECT_TRUE(testee->commit(version_of(2)));
}

TEST_F(sqlite_store_test, a_statement_that_fails_takes_its_transaction_along) {
  auto testee = with_versions(1);
  auto twice = version_of(2);
  twice.blocks = {block(1, {1}), block(1, {2})};
  const auto done = testee->commit(twice);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().context.find("UNIQUE constraint failed: blocks.line"),
            std::string::npos);
  EXPECT_EQ(testee->load().value().lines.at(one_line).head, version{1});
  EXPECT_TRUE(testee->commit(version_of(2)));
}

TEST_F(sqlite_store_test, notes_are_whole_lines_in_order) {
  using file = messages::line_noted::file;
  {
    auto testee = with_versions(0);
    ASSERT_TRUE(testee->note({file::events, "a"}));
    ASSERT_TRUE(testee->note({file::metrics, "m"}));
    ASSERT_TRUE(testee->note({file::events, "b"}));
    EXPECT_EQ(text_of("events.jsonl"), "");
    ASSERT_TRUE(testee->commit(version_of(1)));
    EXPECT_EQ(text_of("events.jsonl"), "a\nb\n");
    EXPECT_EQ(text_of("metrics.jsonl"), "m\n");
    ASSERT_TRUE(testee->note({file::events, "c"}));
  }
  EXPECT_EQ(text_of("events.jsonl"), "a\nb\nc\n");
  std::ofstream{folder / "events.jsonl", std::ios::app} << "{\"half";
  opened();
  EXPECT_EQ(text_of("events.jsonl"), "a\nb\nc\n");
}

// It was killed between a version's line and its commit.
TEST_F(sqlite_store_test, a_version_that_was_not_made_is_in_no_record) {
  using file = messages::line_noted::file;
  const auto line_of = [](std::uint64_t n) {
    return event_of(version_of(n), instant{});
  };
  const auto one = line_of(1) + "\n";
  const auto two = line_of(2) + "\n";
  const auto write = [this](const std::string& text) {
    std::ofstream{folder / "events.jsonl", std::ios::app} << text;
    opened();
    return text_of("events.jsonl");
  };
  {
    auto testee = with_versions(0);
    ASSERT_TRUE(testee->note({file::events, line_of(1)}));
    ASSERT_TRUE(testee->commit(version_of(1)));
  }
  EXPECT_EQ(write(""), one);
  EXPECT_EQ(write("said\n" + two + "more\n"), one + "said\n");
  {
    auto testee = opened();
    ASSERT_TRUE(testee->note({file::events, line_of(2)}));
    ASSERT_TRUE(testee->commit(version_of(2)));
  }
  EXPECT_EQ(write("c\n"), one + "said\n" + two + "c\n");
}

TEST_F(sqlite_store_test, lines_are_written_one_by_one_where_clients_live_on) {
  using file = messages::line_noted::file;
  auto testee = make_sqlite_store({.folder = folder, .writes_each_line = true});
  ASSERT_TRUE(testee);
  ASSERT_TRUE((*testee)->note({file::events, "a"}));
  EXPECT_EQ(text_of("events.jsonl"), "a\n");
  ASSERT_TRUE((*testee)->note({file::metrics, "m"}));
  EXPECT_EQ(text_of("metrics.jsonl"), "m\n");
}

TEST_F(sqlite_store_test, one_process_at_a_time) {
  auto first = opened();
  auto second = make_sqlite_store(options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::storage_failure);
  EXPECT_EQ(second.error().context,
            folder.string() + ": process " + std::to_string(getpid())
              + " works in this folder; end it, or take another folder");
  first.reset();
  EXPECT_TRUE(make_sqlite_store(options()));
}

TEST_F(sqlite_store_test, people_can_read_it_during_the_run) {
  auto testee = with_versions(1);
  auto db = sqlite::database::open(folder / "ledger.sqlite", {}).value();
  auto row = db->query("SELECT head FROM lines");
  ASSERT_TRUE(row.next());
  EXPECT_EQ(row.integer(0), 1u);
  EXPECT_TRUE(testee->commit(version_of(2))); // While the other still reads.
}

TEST_F(sqlite_store_test, older_versions_are_read_as_long_as_they_are_kept) {
  auto opts = options();
  opts.retention = 3;
  auto testee = make_sqlite_store(opts).value();
  ASSERT_TRUE(testee->begin(one_line, version_of(0).blocks));
  for (const std::uint64_t n : {1, 2, 3, 4})
    ASSERT_TRUE(testee->commit(version_of(n)));
  const auto found =
    testee->read({.line = one_line, .exact = {2}, .cut = {}}).value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->head, version{2});
  EXPECT_EQ(found->round, version_of(2).round);
  expect_equal(found->blocks, messages::without_moments(version_of(2).blocks));
  EXPECT_FALSE(
    testee->read({.line = one_line, .exact = {1}, .cut = {}}).value());
  EXPECT_FALSE(
    testee->read({.line = one_line, .exact = {9}, .cut = {}}).value());
  const auto cut = testee->read({.line = one_line, .cut = {3}}).value();
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->head, version{3});
}

} // namespace troupe::actors
