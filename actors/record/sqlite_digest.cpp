#include "actors/record/sqlite_digest.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "actors/record/ledger_reader.hpp"
#include "actors/record/sqlite_schema.hpp"
#include "core/program_version.hpp"

namespace troupe::actors::sqlite {

namespace {

row_sum::words digest_of_rows(const rows& found,
                              std::vector<std::byte>& scratch) {
  scratch.clear();
  found.append_to(scratch);
  const auto digest = models::digest_of(scratch);
  row_sum::words x{};
  static_assert(sizeof x == sizeof digest);
  std::memcpy(x.data(), digest.data(), sizeof x);
  return x;
}

std::map<line_id, version> heads_in(database& ledger, const char* table) {
  std::map<line_id, version> heads;
  for (auto row = ledger.query(std::string{"SELECT line, head FROM "} + table);
       row.next();)
    heads[{row.integer(0)}] = {row.integer(1)};
  return heads;
}

std::string select(const version_table& x) {
  return std::string{"SELECT "} + x.columns + " FROM " + x.name
         + " WHERE line = ?1";
}

bool any_kept(database& ledger) {
  return ledger.query("SELECT 1 FROM kept_parts").next();
}

table_sums stored_sums(database& ledger) {
  table_sums sums;
  for (auto row = ledger.query("SELECT name, sum FROM kept_sums");
       row.next();) {
    row_sum::words x{};
    const auto bytes = row.bytes(1);
    if (bytes.size() == sizeof x)
      std::memcpy(x.data(), bytes.data(), sizeof x);
    sums[row.text(0)] = row_sum{x};
  }
  return sums;
}

/// Of a snapshot that is there: each row is read.
table_sums sums_kept(database& ledger) {
  table_sums sums;
  for (const auto& x : client_tables)
    sums[x.name].add(ledger.query(std::string{"SELECT * FROM kept_"} + x.name));
  for (const auto& [line, head] : heads_in(ledger, "kept_lines"))
    for (const auto& x : version_tables)
      sums[x.name].add(
        ledger.query(select(x) + " AND version <= ?2", line, head));
  sums["contents"].add(ledger.query("SELECT * FROM dropped_contents"));
  return sums;
}

models::digest whole(database& ledger, const table_sums& sums) {
  table_sums all = sums;
  const auto add = [&](const std::string& name, const std::string& sql) {
    all[name].add(ledger.query(sql));
  };
  // Statistics are a person's, and change nothing but how fast a query is.
  add("schema", "SELECT type, name, tbl_name, sql FROM sqlite_schema"
                " WHERE name NOT LIKE 'sqlite_stat%'");
  // It changes with each commit, and a rewind does not need it.
  add("meta", "SELECT key, value FROM meta WHERE key <> 'record_bytes'");
  add("kept_parts", "SELECT name, digest FROM kept_parts");
  add("kept_values", "SELECT content, bytes IS NULL FROM kept_values");
  for (const std::string table : changing_tables)
    add("kept_" + table, "SELECT * FROM kept_" + table);
  std::vector<std::byte> bytes;
  const auto put = [&](const void* first, std::size_t size) {
    const auto* p = static_cast<const std::byte*>(first);
    bytes.insert(bytes.end(), p, p + size);
  };
  const auto build = build_name();
  put(build.c_str(), build.size() + 1);
  for (const auto& [name, sum] : all) {
    put(name.c_str(), name.size() + 1);
    put(sum.value().data(), sizeof sum.value());
  }
  return models::digest_of(bytes);
}

} // namespace

void row_sum::add(rows found) {
  std::vector<std::byte> scratch;
  while (found.next()) {
    const auto x = digest_of_rows(found, scratch);
    for (std::size_t i = 0; i < x.size(); ++i)
      words_[i] += x[i];
  }
}

void row_sum::take_off(rows found) {
  row_sum off;
  off.add(std::move(found));
  for (std::size_t i = 0; i < words_.size(); ++i)
    words_[i] -= off.words_[i];
}

table_sums sums_to_keep(database& ledger) {
  const bool again = any_kept(ledger);
  auto sums = again ? stored_sums(ledger) : table_sums{};
  for (const auto& [table, key] : client_tables) {
    const std::string name = table;
    const auto touched = " FROM touched_" + name + " JOIN ";
    const auto by_key = std::string{" USING ("} + key + ')';
    auto& sum = sums[name];
    if (!again) {
      sum.add(ledger.query("SELECT * FROM " + name));
      continue;
    }
    sum.take_off(ledger.query("SELECT kept_" + name + ".*" + touched + "kept_"
                              + name + by_key));
    sum.add(ledger.query("SELECT " + name + ".*" + touched + name + by_key));
  }
  const auto before = heads_in(ledger, "kept_lines");
  for (const auto& [line, head] : heads_in(ledger, "lines"))
    for (const auto& x : version_tables) {
      const auto known = before.find(line);
      if (known == before.end())
        sums[x.name].add(ledger.query(select(x), line));
      else
        sums[x.name].add(
          ledger.query(select(x) + " AND version > ?2", line, known->second));
    }
  sums["contents"].take_off(ledger.query("SELECT * FROM dropped_contents"));
  return sums;
}

void sign(database& ledger, const table_sums& sums) {
  ledger.run("DELETE FROM dropped_contents");
  ledger.run("DELETE FROM kept_sums");
  for (const auto& [name, sum] : sums)
    ledger.run("INSERT INTO kept_sums VALUES (?, ?)", name,
               std::as_bytes(std::span{sum.value()}));
  ledger.run("INSERT OR REPLACE INTO kept_digest VALUES (0, ?, ?)",
             build_name(), models::to_hex(whole(ledger, sums)));
}

result<void> check_run(database& ledger, const std::string& run) {
  auto row = ledger.query("SELECT value FROM meta WHERE key = 'run'");
  if (run.empty() || !row.next() || row.text(0) == run)
    return {};
  return fail(errc::storage_failure,
              "ledger.sqlite: another run began it, or this one with other "
              "settings; put back the ledger or the config.toml that belong "
              "together, or begin another run with 'init'");
}

result<void> check_signed(database& ledger) {
  std::string build;
  std::string digest;
  if (auto row = ledger.query("SELECT build, digest FROM kept_digest");
      row.next()) {
    build = row.text(0);
    digest = row.text(1);
  }
  const bool any = any_kept(ledger);
  if (auto ok = ledger.check(); !ok || (!any && digest.empty()))
    return ok;
  if (any && build != build_name())
    return fail(errc::storage_failure,
                "the snapshot in ledger.sqlite was written by build '" + build
                  + "', and this is '" + build_name()
                  + "'; go on with the build that wrote it, or run config.toml "
                    "again in another folder");
  const auto sums = sums_kept(ledger);
  const bool fits = sums == stored_sums(ledger)
                    && models::to_hex(whole(ledger, sums)) == digest;
  if (auto ok = ledger.check(); !ok)
    return ok;
  return fits ? result<void>{}
              : damaged_snapshot("it is not what its digest says");
}

result<void> check_contents(database& ledger,
                            const models::version_store& files) {
  for (auto row = ledger.query(
         "SELECT content, bytes FROM contents JOIN kept_lines USING (line)"
         " WHERE version <= head");
       row.next();) {
    const auto name = from_hex(row.text(0));
    if (!name)
      return damaged_snapshot("a content without a digest");
    if (!row.null(1)) {
      if (models::digest_of(row.bytes(1)) != *name)
        return damaged_snapshot("content " + row.text(0));
    } else if (const auto found = files.get(*name); !found) {
      return tl::make_unexpected(found.error());
    }
  }
  return ledger.check();
}

tl::unexpected<error> damaged_snapshot(const std::string& what) {
  return fail(errc::storage_failure,
              "the snapshot in ledger.sqlite is damaged: " + what
                + "; restore the folder from a copy, or run config.toml again "
                  "in another folder");
}

} // namespace troupe::actors::sqlite
