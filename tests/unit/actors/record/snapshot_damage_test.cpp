// What a disk, a person or another build does to a snapshot: it is refused, and
// nothing is computed from it.

#include <array>

#include "actors/record/sqlite.hpp"
#include "core/program_version.hpp"
#include "tests/unit/actors/record/store_fixture.hpp"

namespace troupe::actors {

class snapshot_damage_test : public folder_test {
protected:
  static messages::save_requested saved(std::uint64_t client) {
    return {.token = 1,
            .clients = {{.client = {client}, .examples = 6}},
            .index_upto = 9,
            .round = {}};
  }

  static snapshot some_state() {
    snapshot x;
    x.parts["someone"] = {std::byte{1}};
    x.values[models::digest_of(std::as_bytes(std::span{*values}))] = values;
    return x;
  }

  /// A folder whose last snapshot is of version 2, and its head 2 + `later`.
  void make(std::uint64_t later) const {
    fs::remove_all(folder);
    auto testee = with_versions(1);
    ASSERT_TRUE(testee->note({messages::line_noted::file::events, "kept"}));
    for (std::uint64_t k = 1; k <= 3; ++k)
      ASSERT_TRUE(testee->save(saved(k)));
    ASSERT_TRUE(testee->keep(some_state()));
    ASSERT_TRUE(testee->save(saved(4)));
    ASSERT_TRUE(testee->commit(version_of(2)));
    ASSERT_TRUE(testee->keep(some_state()));
    for (std::uint64_t n = 3; n < 3 + later; ++n)
      ASSERT_TRUE(testee->commit(version_of(n)));
  }

  /// What a resume is told after the ledger was changed; empty: it goes on.
  std::string told_after(const std::string& change) const {
    {
      auto db = sqlite::database::open(folder / "ledger.sqlite", {}).value();
      db->run(change);
      EXPECT_TRUE(db->check()) << change;
    }
    auto made = make_sqlite_store(options());
    if (!made)
      return made.error().context;
    const auto found = (*made)->rewind();
    return found ? "" : found.error().context;
  }

  static inline const shared_values values = share({1, 2, 3});
};

TEST_F(snapshot_damage_test, goes_back_however_much_came_later) {
  for (const std::uint64_t later : {0, 1, 3, 20}) {
    make(later);
    auto testee = opened();
    ASSERT_TRUE(testee->rewind().value()) << later;
    EXPECT_EQ(testee->load().value().lines.at(one_line).head, version{2});
    for (std::uint64_t n = 3; n < 9; ++n)
      ASSERT_TRUE(testee->commit(version_of(n)));
    ASSERT_TRUE(testee->keep(some_state()));
    ASSERT_TRUE(testee->commit(version_of(9)));
    testee.reset();
    testee = opened();
    ASSERT_TRUE(testee) << later;
    const auto again = testee->rewind();
    ASSERT_TRUE(again) << again.error().context;
    EXPECT_EQ(testee->load().value().lines.at(one_line).head, version{8});
  }
}

TEST_F(snapshot_damage_test, one_digest_is_over_all_that_a_resume_reads) {
  const std::array changes{
    "UPDATE kept_clients SET examples = examples + 1 WHERE client = 2",
    "DELETE FROM kept_clients WHERE client = 4",
    "UPDATE kept_windows SET bits = 3 WHERE client = 7",
    "UPDATE kept_lines SET round = 1",
    "UPDATE kept_lines SET head = 1",
    "UPDATE kept_reservations SET upto = 1",
    "INSERT INTO kept_rounds VALUES (0, 1, 0, x'00')",
    "INSERT INTO kept_stopper VALUES (0, 0.5, 1)",
    "UPDATE kept_parts SET bytes = x'02' WHERE name = 'someone'",
    "UPDATE kept_parts SET name = 'another' WHERE name = 'someone'",
    "DELETE FROM kept_parts WHERE name = 'someone'",
    "DELETE FROM kept_parts",
    "DELETE FROM kept_values",
    "DELETE FROM kept_sums",
    "UPDATE versions SET round = 7 WHERE version = 1",
    "DELETE FROM merges WHERE version = 1 AND client = 3",
    "UPDATE merges SET number = 9 WHERE version = 1 AND client = 3",
    "UPDATE blocks SET digest = 'none' WHERE version = 1",
    "UPDATE contents SET count = 1 WHERE version = 2 AND block = 1",
    "UPDATE contents SET bytes = x'00' WHERE version = 2 AND block = 1",
    "UPDATE meta SET value = CASE substr(value, 1, 1) WHEN 'a' THEN 'b' ELSE "
    "'a' END || substr(value, 2) WHERE key = 'seal_key'",
    "DROP TRIGGER windows_changed",
  };
  for (const auto* change : changes) {
    make(2);
    const auto told = told_after(change);
    EXPECT_NE(told.find("the snapshot in ledger.sqlite is damaged: "),
              std::string::npos)
      << change << ": " << told;
    EXPECT_NE(told.find("restore the folder from a copy, or run config.toml "
                        "again in another folder"),
              std::string::npos)
      << told;
  }
}

TEST_F(snapshot_damage_test, what_came_after_it_is_not_asked_about) {
  make(2);
  EXPECT_EQ(told_after("UPDATE clients SET examples = 77"), "");
  make(2);
  EXPECT_EQ(told_after("DELETE FROM versions WHERE version = 4"), "");
}

TEST_F(snapshot_damage_test, another_build_is_told_which_one_wrote_it) {
  make(1);
  EXPECT_EQ(told_after("UPDATE kept_digest SET build = '0.0.9 abc'"),
            "the snapshot in ledger.sqlite was written by build '0.0.9 abc', "
            "and this is '"
              + build_name()
              + "'; go on with the build that wrote it, or run config.toml "
                "again in another folder");
}

// It would be counted: rounds that made a version, visits that were merged.
TEST_F(snapshot_damage_test, what_is_of_no_line_is_removed) {
  for (const auto* change :
       {"UPDATE versions SET line = 9 WHERE version = 4",
        "UPDATE merges SET line = 9 WHERE version = 4 AND client = 3"}) {
    make(2);
    EXPECT_EQ(told_after(change), "");
    auto testee = opened();
    ASSERT_TRUE(testee->rewind().value());
    EXPECT_EQ(testee->load().value().updates, 4u) << change;
    EXPECT_EQ(testee->load().value().fruitful, 2u) << change;
  }
}

// Else there would be nothing to restore the ledger beside.
TEST_F(snapshot_damage_test, no_file_is_removed_for_a_damaged_ledger) {
  make(1);
  const auto before = files().size();
  ASSERT_NE(told_after("UPDATE contents SET content = 'none'"), "");
  EXPECT_EQ(files().size(), before);
}

TEST_F(snapshot_damage_test, a_record_that_is_shorter_is_no_record) {
  make(1);
  fs::resize_file(folder / "events.jsonl", 0);
  const auto told = told_after("SELECT 1");
  EXPECT_NE(told.find("events.jsonl: has 0 bytes, and the snapshot is of when "
                      "it had 5; restore"),
            std::string::npos)
    << told;
}

} // namespace troupe::actors
